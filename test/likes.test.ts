import { sql } from 'kysely';
import t from 'tap';
import { countLikes, storedTies } from './contents.js';
import {
  type Answer,
  type Ask,
  befriend,
  PASSWORD,
  type Person,
  problemsOf,
  startTestService,
  writePost,
} from './harness.js';

const service = await startTestService(t);
const { db, graph } = service.stores;

const like = (person: Person, id: number) => person.ask('POST', `/posts/like?id=${id}`);
const unlike = (person: Person, id: number) => person.ask('DELETE', `/posts/like?id=${id}`);
const goPrivate = (person: Person, value: boolean) =>
  person.ask('PUT', '/profiles/me', { form: { private: String(value) } });
const people = (count: number) => Promise.all(Array.from({ length: count }, () => service.person()));

type Likes = [count: number, mine: boolean];

const likesIn = ({ like_count, liked_by_me }: { like_count: number; liked_by_me: boolean }): Likes => [
  like_count,
  liked_by_me,
];

/** A post's likes as the viewer reads them. */
const likesOf = async (viewer: Person, id: number) => likesIn((await viewer.ask('GET', `/posts/${id}`)).body);

/** How many likes the graph holds of all these posts together. */
const allLikes = async (posts: readonly number[]) =>
  (await countLikes(graph, posts)).reduce((sum, count) => sum + count, 0);

t.test('liking and taking it back may be repeated and change nothing then', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  const { id } = await writePost(ada);
  const steps: [step: typeof like, count: number][] = [
    [unlike, 0],
    [like, 1],
    [like, 1],
    [like, 1],
    [unlike, 0],
    [unlike, 0],
    [like, 1],
  ];
  for (const [step, count] of steps) {
    const { status, body } = await step(bob, id);
    t.strictSame([status, Object.keys(body)], [200, ['message']]);
    t.strictSame(await likesOf(bob, id), [count, count === 1], `${step === like ? 'liked' : 'unliked'}: ${count}`);
  }
});

t.test('a like counts for everybody and is one’s own alone, wherever a post is shown', async (t) => {
  const [ada, bob, eve] = [await service.person(), await service.person(), await service.person()];
  const [post, other] = [await writePost(ada), await writePost(ada)];
  await like(ada, post.id);
  await like(bob, post.id);
  await like(eve, other.id);

  const expected: [Person, name: string, post: Likes, other: Likes][] = [
    [ada, 'the author', [2, true], [1, false]],
    [bob, 'who likes one', [2, true], [1, false]],
    [eve, 'who likes the other', [2, false], [1, true]],
  ];
  for (const [person, name, ...likes] of expected) {
    t.strictSame([await likesOf(person, post.id), await likesOf(person, other.id)], likes, `read by ${name}`);
    const feed = (await person.ask('GET', '/posts?limit=2')).body;
    t.strictSame(feed.map(likesIn), likes.toReversed(), `in the feed of ${name}`);
  }
  t.strictSame((await ada.ask('GET', '/posts/me')).body.map(likesIn), [
    [1, false],
    [2, true],
  ]);
  const edited = await ada.ask('PUT', `/posts/edit?id=${post.id}`, { form: { title: 'Changed' } });
  t.strictSame(likesIn(edited.body), [2, true], 'an edit keeps them, and says so');
  await unlike(bob, post.id);
  t.strictSame(await likesOf(bob, post.id), [1, false], 'taking one’s own back leaves the others');
  t.strictSame(await likesOf(ada, post.id), [1, true]);
});

t.test('fifty who like a post at once are fifty likes, and no more if they ask twice', async (t) => {
  const ada = await service.person();
  const fans = await people(50);
  const { id } = await writePost(ada);
  const twice = [...fans, ...fans];
  const liked = await Promise.all(twice.map((fan) => like(fan, id)));
  t.ok(liked.every(({ status }) => status === 200));
  t.strictSame(await likesOf(ada, id), [50, false]);
  t.strictSame(await Promise.all(fans.map((fan) => likesOf(fan, id))), Array(50).fill([50, true]));

  const mixed = await Promise.all(fans.map((fan, index) => (index % 2 ? unlike : like)(fan, id)));
  t.ok(mixed.every(({ status }) => status === 200));
  t.strictSame(await likesOf(ada, id), [25, false], 'half of them take it back while half like again');
  t.strictSame(
    await Promise.all(fans.map((fan) => likesOf(fan, id))),
    fans.map((_, index) => [25, index % 2 === 0]),
    'each has their own wish',
  );
  await Promise.all(twice.map((fan) => unlike(fan, id)));
  t.strictSame(await likesOf(ada, id), [0, false]);
});

t.test('many posts and people at once: every wish finds its own post', async (t) => {
  const fans = await people(5);
  const ada = await service.person();
  const hermit = await service.person({ private: true });
  const open = await Promise.all(Array.from({ length: 5 }, () => writePost(ada)));
  const hidden = await writePost(hermit);
  await befriend(hermit, fans[0] as Person);
  const wishes = fans.flatMap((fan, f) => [
    ...open.map((post, p) => ({ fan, id: post.id, expected: 200, wanted: (f + p) % 2 === 0 })),
    { fan, id: hidden.id, expected: f === 0 ? 200 : 404, wanted: true },
    { fan, id: 9007199254740991, expected: 404, wanted: true },
  ]);
  const answers = await Promise.all(wishes.map(({ fan, id, wanted }) => (wanted ? like : unlike)(fan, id)));
  t.strictSame(
    answers.map(({ status }) => status),
    wishes.map(({ expected }) => expected),
    'in one batch some are refused and some are not',
  );
  for (const [p, post] of open.entries()) {
    t.strictSame(
      await Promise.all(fans.map(async (fan) => (await likesOf(fan, post.id))[1])),
      fans.map((_, f) => (f + p) % 2 === 0),
    );
  }
  t.strictSame(await likesOf(hermit, hidden.id), [1, false]);
});

t.test('a hidden post and a missing one are the same 404, and nothing changes', async (t) => {
  const [hermit, eve] = [await service.person({ private: true }), await service.person()];
  const hidden = await writePost(hermit);
  const deleted = await writePost(hermit);
  await hermit.ask('DELETE', `/posts/delete?id=${deleted.id}`);
  const bodies = new Set<string>();
  for (const id of [hidden.id, deleted.id, 9007199254740991]) {
    for (const step of [like, unlike]) {
      const { status, bytes } = await step(eve, id);
      t.equal(status, 404);
      bodies.add(bytes.toString());
    }
  }
  t.equal(bodies.size, 1, 'in the same words');
  t.strictSame(await likesOf(hermit, hidden.id), [0, false]);
  t.equal(await allLikes([hidden.id, deleted.id, 9007199254740991]), 0, 'the graph knows of none');
  t.equal((await like(hermit, hidden.id)).status, 200, 'the owner may like it');
});

t.test('a like outlives that the post is hidden, and is theirs again when they see it', async (t) => {
  const [ada, bob, eve] = [await service.person(), await service.person(), await service.person()];
  const { id } = await writePost(ada);
  await like(bob, id);
  await like(eve, id);
  await goPrivate(ada, true);
  t.strictSame(await likesOf(ada, id), [2, false], 'both still count');
  t.equal((await unlike(bob, id)).status, 404, 'and cannot be taken back unseen');
  t.equal((await like(bob, id)).status, 404, 'nor given again');
  t.strictSame(await likesOf(ada, id), [2, false]);

  await befriend(bob, ada);
  t.strictSame(await likesOf(bob, id), [2, true], 'to a friend it is theirs again');
  await ada.ask('DELETE', `/friends/remove?id=${bob.id}`);
  t.strictSame(await likesOf(ada, id), [2, false], 'the end of a friendship leaves it');
  await befriend(bob, ada);
  t.equal((await unlike(bob, id)).status, 200, 'and a friend may take it back');
  t.strictSame(await likesOf(bob, id), [1, false]);

  await goPrivate(ada, false);
  t.strictSame(await likesOf(eve, id), [1, true], 'in public it is everybody’s own again');
});

t.test('a post that the graph has never heard of is liked like any other', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  const { rows } = await sql<{ id: number }>`
    insert into posts (author_id, title, text) values (${ada.id}, 'Old', 'From before there were likes'), (999999, 'O', 'P')
    returning id`.execute(db);
  for (const { id } of rows) {
    t.strictSame(await likesOf(bob, id), [0, false]);
    t.equal((await like(bob, id)).status, 200);
    t.strictSame(await likesOf(ada, id), [1, false]);
    t.equal((await unlike(bob, id)).status, 200);
    t.strictSame(await likesOf(ada, id), [0, false]);
  }
});

t.test('a deletion among likes leaves no like of the dead', async (t) => {
  const ada = await service.person();
  const fans = await people(6);
  const posts = await Promise.all(Array.from({ length: 24 }, () => writePost(ada)));
  const ids = posts.map(({ id }) => id);
  const seen = new Set<number>();
  await Promise.all(
    ids.flatMap((id, index) => {
      const likes = fans.map(async (fan) => void seen.add((await like(fan, id)).status));
      const deletion = ada.ask('DELETE', `/posts/delete?id=${id}`).then(({ status }) => t.equal(status, 200));
      // Before some likes and after others.
      likes.splice(
        index % (fans.length + 1),
        0,
        deletion.then(() => undefined),
      );
      return likes;
    }),
  );
  t.strictSame(
    [...seen].filter((status) => status !== 200 && status !== 404),
    [],
  );
  t.equal(await allLikes(ids), 0);
  t.equal((await ada.ask('GET', '/posts/me')).body.length, 0);
  for (const fan of fans) t.equal((await like(fan, ids[0] as number)).status, 404);
  t.equal(await allLikes(ids), 0, 'nor afterwards');
});

t.test('a deleted account takes its likes with it', async (t) => {
  const [ada, bob, eve] = [await service.person(), await service.person(), await service.person()];
  const { id } = await writePost(ada);
  const his = await writePost(bob);
  await like(bob, id);
  await like(eve, id);
  await like(eve, his.id);
  const attempts = Array.from({ length: 10 }, (_, index) => (index % 2 ? like : unlike)(bob, id));
  const { status } = await bob.ask('DELETE', '/profiles/me', { json: { password: PASSWORD } });
  t.equal(status, 200);
  for (const attempt of await Promise.all(attempts)) {
    t.ok([200, 401].includes(attempt.status), 'a like comes before the deletion, or finds nobody');
  }
  t.strictSame(await likesOf(ada, id), [1, false]);
  t.equal(await allLikes([his.id]), 0, 'and his posts’ likes');
  t.strictSame((await storedTies(service.stores, [bob.id])).likes, []);
});

t.test('an id that is none is 400 and named', async (t) => {
  const ada = await service.person();
  const { id } = await writePost(ada);
  const noIds = ['0', '-1', '1.5', '1e3', '007', '', '9007199254740992', '99999999999999999999', 'x', '%2B1', '%00'];
  const queries = [...noIds.map((value) => `?id=${value}`), '', '?id', `?id=${id}&id=${id}`, `?id=${id}&id=`];
  for (const method of ['POST', 'DELETE']) {
    for (const query of queries) {
      const answer = await ada.ask(method, `/posts/like${query}`);
      t.strictSame([answer.status, ...new Set(problemsOf(answer))], [400, 'query.id'], `${method} ${query}`);
    }
    const unknown = await ada.ask(method, `/posts/like?id=${id}&post=${id}`);
    t.strictSame([unknown.status, problemsOf(unknown)], [400, ['query.post']], `${method}: id and nothing else`);
    const inBody = await ada.ask(method, '/posts/like', { json: { id } });
    t.strictSame(
      [inBody.status, problemsOf(inBody).sort()],
      [400, ['body.id', 'query.id']],
      `${method}: not in a body`,
    );
  }
  t.strictSame(await likesOf(ada, id), [0, false]);
});

t.test('no body is taken but an empty object', async (t) => {
  const ada = await service.person();
  const { id } = await writePost(ada);
  const refused: Record<string, Ask> = {
    'an object with a field': { json: { liked: true } },
    'an array': { json: [] },
    null: { json: null },
    'broken JSON': { body: '{', headers: { 'Content-Type': 'application/json' } },
    text: { body: '{}', headers: { 'Content-Type': 'text/plain' } },
    bytes: { body: new Uint8Array([0]) },
    'a form': { form: { liked: 'true' } },
  };
  for (const [what, ask] of Object.entries(refused)) {
    for (const method of ['POST', 'DELETE']) {
      const answer: Answer = await ada.ask(method, `/posts/like?id=${id}`, ask);
      t.strictSame([answer.status, problemsOf(answer)[0]?.split('.')[0]], [400, 'body'], `${method} with ${what}`);
    }
  }
  t.strictSame(await likesOf(ada, id), [0, false]);
  t.equal((await ada.ask('POST', `/posts/like?id=${id}`, { json: {} })).status, 200);
  t.equal((await ada.ask('DELETE', `/posts/like?id=${id}`, { json: {} })).status, 200);
});
