import t, { type Test } from 'tap';
import type { components } from '../generated/types.js';
import { samples } from '../scripts/contract-test/images.js';
import { type Answer, befriend, type Person, startTestService, writePost } from './harness.js';

const service = await startTestService(t);

/**
 * Everybody who may come by:
 *
 * - owner: whose post, profile and images it is about
 * - friend: asked, and was accepted
 * - requester: has asked the owner, who has not answered
 * - requested: was asked by the owner, and has not answered
 * - stranger: has nothing to do with the owner
 * - ex-friend: was a friend, until the owner ended it
 * - nobody: sends no credentials
 * - revoked: a friend who sends the token of a session that has been logged out
 */
const VIEWERS = ['owner', 'friend', 'requester', 'requested', 'stranger', 'ex-friend', 'nobody', 'revoked'] as const;

type Viewer = (typeof VIEWERS)[number];

const WHILE_PUBLIC = `
                        owner   friend  requester  requested  stranger  ex-friend  nobody  revoked
  feed                  listed  listed  listed     listed     listed    listed     401     401
  feed, 100 posts        listed  listed  listed     listed     listed    listed     401     401
  own posts             listed  -       -          -          -         -          401     401
  HEAD feed             200     200     200        200        200       200        401     401
  read post             200     200     200        200        200       200        401     401
  HEAD post             200     200     200        200        200       200        401     401
  like                  200     200     200        200        200       200        401     401
  unlike                200     200     200        200        200       200        401     401
  post image            200     200     200        200        200       200        401     401
  HEAD post image       200     200     200        200        200       200        401     401
  post image, by tag    304     304     304        304        304       304        401     401
  profile               full    full    full       full       full      full       401     401
  HEAD profile          200     200     200        200        200       200        401     401
  picture               200     200     200        200        200       200        401     401
  HEAD picture          200     200     200        200        200       200        401     401
  picture, by tag       304     304     304        304        304       304        401     401
  among friends         -       full    -          -          -         -          401     401
  among requests        -       -       -          full       -         -          401     401
  edit                  200     404     404        404        404       404        401     401
  edit image            200     404     404        404        404       404        401     401
  delete                200     404     404        404        404       404        401     401
`;

const WHILE_PRIVATE = `
                        owner   friend  requester  requested  stranger  ex-friend  nobody  revoked
  feed                  listed  listed  -          -          -         -          401     401
  feed, 100 posts        listed  listed  -          -          -         -          401     401
  own posts             listed  -       -          -          -         -          401     401
  HEAD feed             200     200     200        200        200       200        401     401
  read post             200     200     404        404        404       404        401     401
  HEAD post             200     200     404        404        404       404        401     401
  like                  200     200     404        404        404       404        401     401
  unlike                200     200     404        404        404       404        401     401
  post image            200     200     404        404        404       404        401     401
  HEAD post image       200     200     404        404        404       404        401     401
  post image, by tag    304     304     404        404        404       404        401     401
  profile               full    full    brief      brief      brief     brief      401     401
  HEAD profile          200     200     200        200        200       200        401     401
  picture               200     200     404        404        404       404        401     401
  HEAD picture          200     200     404        404        404       404        401     401
  picture, by tag       304     304     404        404        404       404        401     401
  among friends         -       full    -          -          -         -          401     401
  among requests        -       -       -          brief      -         -          401     401
  edit                  200     404     404        404        404       404        401     401
  edit image            200     404     404        404        404       404        401     401
  delete                200     404     404        404        404       404        401     401
`;

/** A table's cells, by operation and viewer. */
function readTable(table: string): Map<string, Record<Viewer, string>> {
  const [head = [], ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));
  if (head.join() !== VIEWERS.join()) throw new Error('the columns are the viewers');
  return new Map(
    rows.map(([operation = '', ...cells]) => {
      if (cells.length !== VIEWERS.length) throw new Error(`${operation}: a cell for each viewer is needed`);
      const row = Object.fromEntries(VIEWERS.map((viewer, index) => [viewer, cells[index]]));
      return [operation, row as Record<Viewer, string>];
    }),
  );
}

type Post = components['schemas']['Post'];

/** What is looked at: the owner's things, or the like that do not exist. */
interface Target {
  owner: number;
  post: Post;
  picture: string;
  /** Makes a post to be deleted. */
  doomed(): Promise<number>;
}

type Ask = Person['ask'];

interface Seen {
  answer: Answer;
  /** What the answer shows, where its status does not say it. */
  shown?: string;
}

const png = () => new Blob([samples.png], { type: 'image/png' });
const gif = () => new Blob([samples.gif], { type: 'image/gif' });

const FULL = ['id', 'name', 'private', 'profile_link', 'username'];
const BRIEF = ['id', 'name', 'username'];

function shapeOf(profile: object | undefined): string {
  const fields = JSON.stringify(Object.keys(profile ?? {}).sort());
  if (fields === JSON.stringify(FULL)) return 'full';
  if (fields === JSON.stringify(BRIEF)) return 'brief';
  return profile ? fields : '-';
}

const entryOf = ({ body, status }: Answer, id: number): object | undefined =>
  status === 200 ? body.find((entry: { id: number }) => entry.id === id) : undefined;

/** Looks for the post in a list. */
async function inList(ask: Ask, path: string, { post }: Target): Promise<Seen> {
  const answer = await ask('GET', path);
  return answer.status === 200 ? { answer, shown: entryOf(answer, post.id) ? 'listed' : '-' } : { answer };
}

/** Looks for the owner in a list of people. */
async function amongPeople(ask: Ask, path: string, { owner }: Target): Promise<Seen> {
  const answer = await ask('GET', path);
  return answer.status === 200 ? { answer, shown: shapeOf(entryOf(answer, owner)) } : { answer };
}

const only = async (answer: Promise<Answer>): Promise<Seen> => ({ answer: await answer });

const tagOf = (path: string) => ({ headers: { 'If-None-Match': `"${path.split('/').at(-1)}"` } });

/** Every operation that shows or touches a post, a profile or an image. */
const operations: Record<string, (ask: Ask, target: Target) => Promise<Seen>> = {
  feed: (ask, target) => inList(ask, '/posts?limit=20', target),
  'feed, 100 posts': (ask, target) => inList(ask, '/posts?limit=100', target),
  'own posts': (ask, target) => inList(ask, '/posts/me?limit=100', target),
  'HEAD feed': (ask) => only(ask('HEAD', '/posts')),
  'read post': (ask, { post }) => only(ask('GET', `/posts/${post.id}`)),
  'HEAD post': (ask, { post }) => only(ask('HEAD', `/posts/${post.id}`)),
  like: (ask, { post }) => only(ask('POST', `/posts/like?id=${post.id}`)),
  unlike: (ask, { post }) => only(ask('DELETE', `/posts/like?id=${post.id}`)),
  'post image': (ask, { post }) => only(ask('GET', String(post.image))),
  'HEAD post image': (ask, { post }) => only(ask('HEAD', String(post.image))),
  'post image, by tag': (ask, { post }) => only(ask('GET', String(post.image), tagOf(String(post.image)))),
  async profile(ask, { owner }) {
    const answer = await ask('GET', `/profiles/${owner}`);
    return answer.status === 200 ? { answer, shown: shapeOf(answer.body) } : { answer };
  },
  'HEAD profile': (ask, { owner }) => only(ask('HEAD', `/profiles/${owner}`)),
  picture: (ask, { picture }) => only(ask('GET', picture)),
  'HEAD picture': (ask, { picture }) => only(ask('HEAD', picture)),
  'picture, by tag': (ask, { picture }) => only(ask('GET', picture, tagOf(picture))),
  'among friends': (ask, target) => amongPeople(ask, '/friends', target),
  'among requests': (ask, target) => amongPeople(ask, '/friends/requests', target),
  edit: (ask, { post }) => only(ask('PUT', `/posts/edit?id=${post.id}`, { form: { title: post.title } })),
  'edit image': async (ask, { doomed }) =>
    only(ask('PUT', `/posts/edit?id=${await doomed()}`, { form: { image: gif() } })),
  delete: async (ask, { doomed }) => only(ask('DELETE', `/posts/delete?id=${await doomed()}`)),
};

interface World {
  owner: Person;
  asks: Record<Viewer, Ask>;
  picture: string;
  /** Written before anything changed. */
  first: Post;
}

/** An owner whose account is older than the viewers', or younger: neither may matter. */
async function makeWorld(age: 'older' | 'younger'): Promise<World> {
  const older = await service.person({ name: 'The Owner' });
  const person: Record<string, Person> = {};
  for (const viewer of VIEWERS.slice(1)) person[viewer] = await service.person({ name: viewer });
  const owner = age === 'older' ? older : await service.person({ name: 'The Owner' });
  const { friend, requester, requested, stranger, 'ex-friend': exFriend, revoked } = person as Record<Viewer, Person>;

  await befriend(friend, owner);
  await befriend(owner, exFriend);
  await befriend(revoked, owner);
  await requester.ask('POST', `/friends/request?to=${owner.id}`);
  await owner.ask('POST', `/friends/request?to=${requested.id}`);
  await owner.ask('DELETE', `/friends/remove?id=${exFriend.id}`);
  await revoked.ask('POST', '/auth/logout');

  const { body } = await owner.ask('PUT', '/profiles/me', { form: { image: png() } });
  return {
    owner,
    asks: {
      owner: owner.ask,
      friend: friend.ask,
      requester: requester.ask,
      requested: requested.ask,
      stranger: stranger.ask,
      'ex-friend': exFriend.ask,
      nobody: service.ask,
      revoked: revoked.ask,
    },
    picture: body.profile_link,
    first: await writePost(owner, { title: 'First', image: png() }),
  };
}

const hide = (owner: Person, value: boolean) => owner.ask('PUT', '/profiles/me', { form: { private: String(value) } });

const MISSING = 9007199254740991;

/** Runs every operation as every viewer, on an old post and a new one, and compares what they are given with the table. */
async function expectTable(t: Test, table: string, { owner, asks, picture, first }: World): Promise<void> {
  const expected = readTable(table);
  t.strictSame([...expected.keys()], Object.keys(operations), 'the table has a row for every operation');
  const posts = { 'an old post': first, 'a new post': await writePost(owner, { title: 'Anew', image: png() }) };
  const nothing: Target = {
    owner: MISSING,
    post: { ...first, id: MISSING, image: `/posts/image/${'0'.repeat(32)}.png` },
    picture: `/profiles/image/${'0'.repeat(32)}.png`,
    doomed: async () => MISSING,
  };
  for (const [operation, run] of Object.entries(operations)) {
    const cells = Object.entries(expected.get(operation) ?? {}) as [Viewer, string][];
    for (const [which, post] of Object.entries(posts)) {
      for (const [viewer, cell] of cells) {
        const doomed: number[] = [];
        const target: Target = {
          owner: owner.id,
          post,
          picture,
          async doomed() {
            const { id } = await writePost(owner, { image: png() });
            doomed.push(id);
            return id;
          },
        };
        const { answer, shown } = await run(asks[viewer], target);
        t.equal(shown ?? String(answer.status), cell, `${operation} by ${viewer}, ${which}`);
        if (cell === '404') {
          const missing = await run(asks[viewer], nothing);
          t.strictSame(
            [answer.status, answer.body],
            [missing.answer.status, missing.answer.body],
            'as if it were none',
          );
        }
        for (const id of doomed) {
          const after = await owner.ask('GET', `/posts/${id}`);
          const left = after.status === 404 ? 'deleted' : String(after.body.image).split('.').at(-1);
          const wanted = cell !== '200' ? 'png' : operation === 'delete' ? 'deleted' : 'gif';
          t.equal(left, wanted, `${operation} by ${viewer}: what is left`);
          await owner.ask('DELETE', `/posts/delete?id=${id}`);
        }
      }
      const likes = operation === 'like' ? cells.filter(([, cell]) => cell === '200').length : 0;
      t.strictSame(
        (await owner.ask('GET', `/posts/${post.id}`)).body,
        { ...post, like_count: likes, liked_by_me: likes > 0, comments: [] },
        `${operation}: ${which} has ${likes} likes, and is as it was`,
      );
    }
  }
}

t.test('who sees what, while the owner is public, goes private, and is public again', async (t) => {
  const world = await makeWorld('older');
  await t.test('public', (t) => expectTable(t, WHILE_PUBLIC, world));
  await hide(world.owner, true);
  await t.test('private', (t) => expectTable(t, WHILE_PRIVATE, world));
  await hide(world.owner, false);
  await t.test('public again', (t) => expectTable(t, WHILE_PUBLIC, world));
});

t.test('who sees what of a private owner whose account is the younger one', async (t) => {
  const world = await makeWorld('younger');
  await hide(world.owner, true);
  await expectTable(t, WHILE_PRIVATE, world);
});

t.test('every step of a friendship shows and hides at once what is private', async (t) => {
  const [hermit, eve] = [await service.person({ private: true }), await service.person()];
  const { body: profile } = await hermit.ask('PUT', '/profiles/me', { form: { image: png() } });
  const post = await writePost(hermit, { image: png() });
  const expectVisible = async (visible: boolean, when: string) => {
    const target = { owner: hermit.id, post, picture: profile.profile_link, doomed: async () => MISSING };
    const names = ['feed', 'feed, 100 posts', 'read post', 'post image', 'profile', 'picture', 'like', 'unlike'];
    const seen: (string | number)[] = [];
    for (const name of names) {
      const { shown, answer } = (await operations[name]?.(eve.ask, target)) ?? {};
      seen.push(shown ?? String(answer?.status));
    }
    t.strictSame(
      seen,
      visible
        ? ['listed', 'listed', '200', '200', 'full', '200', '200', '200']
        : ['-', '-', '404', '404', 'brief', '404', '404', '404'],
      when,
    );
  };
  const steps: [who: Person, method: string, path: string, visible: boolean][] = [
    [eve, 'POST', `/friends/request?to=${hermit.id}`, false],
    [hermit, 'POST', `/friends/decline?from=${eve.id}`, false],
    [eve, 'POST', `/friends/request?to=${hermit.id}`, false],
    [eve, 'POST', `/friends/cancel?to=${hermit.id}`, false],
    [eve, 'POST', `/create_relationship?me=${eve.id}&them=${hermit.id}`, false],
    [hermit, 'POST', `/friends/accept?from=${eve.id}`, true],
    [eve, 'DELETE', `/friends/remove?id=${hermit.id}`, false],
    [hermit, 'POST', `/friends/request?to=${eve.id}`, false],
    [eve, 'POST', `/friends/accept?from=${hermit.id}`, true],
    [hermit, 'DELETE', `/friends/remove?id=${eve.id}`, false],
  ];
  await expectVisible(false, 'before anything');
  for (const [who, method, path, visible] of steps) {
    t.equal((await who.ask(method, path)).status, 200);
    await expectVisible(visible, `after ${method} ${path} by ${who === eve ? 'Eve' : 'the hermit'}`);
  }
});

t.test('being private hides nothing of others', async (t) => {
  const [hermit, open] = [await service.person({ private: true }), await service.person()];
  const post = await writePost(open, { image: png() });
  t.equal((await hermit.ask('GET', `/posts/${post.id}`)).status, 200);
  t.equal((await hermit.ask('GET', String(post.image))).status, 200);
  t.equal((await hermit.ask('POST', `/posts/like?id=${post.id}`)).status, 200);
  t.equal(shapeOf((await hermit.ask('GET', `/profiles/${open.id}`)).body), 'full');
});

t.test('a friend of a friend is a stranger', async (t) => {
  const [hermit, friend, further] = [
    await service.person({ private: true }),
    await service.person(),
    await service.person(),
  ];
  await befriend(friend, hermit);
  await befriend(further, friend);
  const post = await writePost(hermit, { image: png() });
  t.equal((await friend.ask('GET', `/posts/${post.id}`)).status, 200);
  t.equal((await further.ask('GET', `/posts/${post.id}`)).status, 404);
  t.equal((await further.ask('GET', String(post.image))).status, 404);
  t.equal(shapeOf((await further.ask('GET', `/profiles/${hermit.id}`)).body), 'brief');
});
