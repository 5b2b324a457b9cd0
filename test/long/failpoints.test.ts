import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Failpoint } from '../../db/support/failpoints.js';
import { samples } from '../../scripts/contract-test/images.js';
import { crashableProcesses, type FailpointHit } from '../faults/failpoints.js';
import { expectNoLeftovers } from '../support/leftovers.js';
import { picture } from '../support/picture.js';
import type { ServiceProcess } from '../support/processes.js';
import { createSender, type RequestOptions, type TestResponse } from '../support/requests.js';
import { PASSWORD } from '../support/service.js';
import { freshStores } from '../support/stores.js';

/*
 * Kills the service at each failpoint of each write that changes more than one store, and restarts it. Each write first runs
 * without a kill. After a kill, views must be those before or after the write, and a repetition must have the recorded result.
 */

t.setTimeout(0);

type Name = 'ada' | 'bea' | 'cy' | 'dan';

interface User {
  name: Name;
  id: number;
  email: string;
  token: string | undefined;
  send(method: string, path: string, more?: RequestOptions): Promise<TestResponse>;
}

/** `ada` is private. `bea` is her friend, `cy` is a stranger. `dan` is registered by the write that is tested. */
type Fixture = Record<'ada' | 'bea' | 'cy', User> & {
  dan?: User;
  /** The id of a post by Ada, which Bea likes. */
  adasPostId: number;
  /** The id of a post by Bea, which Ada likes. */
  beasPostId: number;
};

interface Write {
  /** Changes the fixture, so that the write applies. */
  prepare?(fixture: Fixture): Promise<unknown>;
  act(fixture: Fixture): Promise<TestResponse>;
}

const unfriend = ({ ada, bea }: Fixture) => ada.send('DELETE', `/friends/remove?id=${bea.id}`);
const request = ({ ada, bea }: Fixture) => bea.send('POST', `/friends/request?to=${ada.id}`);

const writes: Record<string, Write> = {
  'a registration': {
    prepare: async (fixture) => {
      fixture.dan = createUser('dan');
    },
    act: ({ dan, cy }) => register(dan ?? cy),
  },
  'a new post': { act: ({ ada }) => ada.send('POST', '/posts/create', { form: { title: 'New', text: 'Text' } }) },
  'a new post with an image and an idempotency key': {
    act: ({ ada }) =>
      ada.send('POST', '/posts/create', {
        form: { title: 'New', text: 'Text', image: picture('gif') },
        headers: { 'Idempotency-Key': 'the-same-each-time' },
      }),
  },
  'an edit with another image': {
    act: ({ ada, adasPostId }) =>
      ada.send('PUT', `/posts/edit?id=${adasPostId}`, { form: { title: 'Other', image: picture('jpeg') } }),
  },
  'an edit that removes the image': {
    act: ({ ada, adasPostId }) =>
      ada.send('PUT', `/posts/edit?id=${adasPostId}`, { form: { text: 'Bare', remove_image: 'true' } }),
  },
  'the deletion of a post': { act: ({ ada, adasPostId }) => ada.send('DELETE', `/posts/delete?id=${adasPostId}`) },
  'another picture': {
    act: ({ ada }) => ada.send('PUT', '/profiles/me', { form: { name: 'Ada the Great', image: picture('jpeg') } }),
  },
  'the removal of the picture': {
    act: ({ ada }) => ada.send('PUT', '/profiles/me', { form: { remove_image: 'true' } }),
  },
  'the deletion of an account': {
    act: ({ ada }) => ada.send('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
  },
  'a like': {
    prepare: ({ bea, adasPostId }) => bea.send('DELETE', `/posts/like?id=${adasPostId}`),
    act: ({ bea, adasPostId }) => bea.send('POST', `/posts/like?id=${adasPostId}`),
  },
  'an unlike': { act: ({ bea, adasPostId }) => bea.send('DELETE', `/posts/like?id=${adasPostId}`) },
  // The other operations of friends run the same code as these three.
  'a friend request': { prepare: unfriend, act: request },
  'the acceptance of a friend request': {
    prepare: async (fixture) => [await unfriend(fixture), await request(fixture)],
    act: ({ ada, bea }) => ada.send('POST', `/friends/accept?from=${bea.id}`),
  },
  'the end of a friendship': { act: unfriend },
};

// A long timeout, so that no delivery is retried during this test.
const environment = { NEO4J_TIMEOUT: '60000', ...(await freshStores(t)) };
const processes = await crashableProcesses(t);
let service: ServiceProcess = await processes.start(environment);

function createUser(name: Name): User {
  const id = randomBytes(6).toString('hex');
  const user: User = {
    name,
    id: 0,
    email: `${name}${id}@people.example`,
    token: undefined,
    send: (method, path, more) =>
      createSender(t, service.url)(method, path, { ...(user.token !== undefined && { token: user.token }), ...more }),
  };
  return user;
}

function register({ name, email, send }: User): Promise<TestResponse> {
  const username = email.replace('@people.example', '');
  return send('POST', '/auth/register', { json: { name, username, email, password: PASSWORD } });
}

/** Logs in and stores the id and the token. Returns false if the login fails. */
async function login(user: User): Promise<boolean> {
  const { status, body } = await user.send('POST', '/auth/login', { json: { email: user.email, password: PASSWORD } });
  if (status === 200) Object.assign(user, { id: body.id, token: body.token });
  return status === 200;
}

async function createFixture(): Promise<Fixture> {
  const [ada, bea, cy] = [createUser('ada'), createUser('bea'), createUser('cy')];
  await Promise.all([ada, bea, cy].map(async (user) => [await register(user), await login(user)]));
  await ada.send('PUT', '/profiles/me', { form: { private: 'true', image: picture('gif') } });
  const post = { title: 'Old', text: 'Text', image: picture('png') };
  const fixture: Fixture = { ada, bea, cy, adasPostId: 0, beasPostId: 0 };
  fixture.adasPostId = (await ada.send('POST', '/posts/create', { form: post })).body.id;
  fixture.beasPostId = (await bea.send('POST', '/posts/create', { form: post })).body.id;
  await request(fixture);
  await ada.send('POST', `/friends/accept?from=${bea.id}`);
  await ada.send('POST', `/posts/like?id=${fixture.beasPostId}`);
  await bea.send('POST', `/posts/like?id=${fixture.adasPostId}`);
  return fixture;
}

/** Returns everything that each user sees, without ids and names that differ between fixtures. */
async function readViews(fixture: Fixture): Promise<unknown> {
  const users = [fixture.ada, fixture.bea, fixture.cy, ...(fixture.dan ? [fixture.dan] : [])];
  for (const user of users) if (user.token === undefined) await login(user);
  const names = new Map(users.map(({ id, name }) => [id, name]));
  const views: Record<string, unknown> = {};
  for (const viewer of users) {
    const { status } = await viewer.send('GET', '/auth/me');
    views[viewer.name] = status === 200 ? await view(viewer, users, names) : status;
  }
  return views;
}

async function view(viewer: User, users: readonly User[], names: ReadonlyMap<number, Name>) {
  const image = async (link: string | null | undefined) => {
    if (!link) return link;
    const { status, bytes } = await viewer.send('GET', link);
    return status === 200 ? Object.entries(samples).find(([, sample]) => sample.equals(bytes))?.[0] : status;
  };
  const profiles = users.map(async ({ id, name }) => {
    const { status, body } = await viewer.send('GET', `/profiles/${id}`);
    return [name, status, body.name, body.private, await image(body.profile_link)];
  });
  const feed = (await viewer.send('GET', '/posts?limit=100')).body as TestResponse['body'][];
  const posts = feed
    .filter(({ author_id }) => names.has(author_id))
    .map(async ({ author_id, title, text, liked_by_me, like_count: likes, image: link }) => ({
      author: names.get(author_id),
      ...{ title, text, liked_by_me, likes },
      image: await image(link),
    }));
  const namesOf = ({ body }: TestResponse) => body.map(({ id }: { id: number }) => names.get(id));
  return {
    profiles: await Promise.all(profiles),
    posts: await Promise.all(posts),
    friends: namesOf(await viewer.send('GET', '/friends')),
    requests: namesOf(await viewer.send('GET', '/friends/requests')),
  };
}

/** The results of a write, and of its repetition, without a kill. */
interface Baseline {
  /** The statuses of the write and of its repetition. */
  statuses: number[];
  /** The views before the write, after it and after its repetition. */
  views: unknown[];
  /** The failpoint hits of the write. */
  hits: FailpointHit[];
}

async function recordBaseline({ prepare, act }: Write): Promise<Baseline> {
  const fixture = await createFixture();
  await prepare?.(fixture);
  const before = await readViews(fixture);
  processes.reset(undefined);
  const first = await act(fixture);
  const hits = processes.recordedHits();
  const after = await readViews(fixture);
  const second = await act(fixture);
  return { statuses: [first.status, second.status], views: [before, after, await readViews(fixture)], hits };
}

const baselines = new Map<string, Baseline>();
for (const [name, write] of Object.entries(writes)) baselines.set(name, await recordBaseline(write));

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const withoutLikes = (view: unknown) =>
  JSON.parse(JSON.stringify(view, (key, value) => (key === 'likes' ? undefined : value)));

/** The failpoints at which the service was killed. */
const failpointsHit = new Set<Failpoint>();

for (const [name, { act, prepare }] of Object.entries(writes)) {
  const { statuses, views, hits } = baselines.get(name) as Baseline;
  for (const target of hits) {
    await t.test(`${name}, killed at hit ${target.hit} of the failpoint "${target.failpoint}"`, async (t) => {
      const fixture = await createFixture();
      await prepare?.(fixture);
      processes.reset(target);
      const dead = new Promise((resolve) => service.child.once('exit', (_, signal) => resolve(signal)));
      const response = await act(fixture).catch(() => undefined);
      // If the relay delivers an entry before the request does, the failpoint is not reached, and the test kills the process.
      if (processes.wasHit(target)) failpointsHit.add(target.failpoint);
      else service.child.kill('SIGKILL');
      t.equal(await dead, 'SIGKILL');
      service = await processes.start(environment);

      const current = withoutLikes(await readViews(fixture));
      const viewIndex = views.slice(0, 2).findIndex((view) => isSame(withoutLikes(view), current));
      if (viewIndex < 0) t.same(current, withoutLikes(views[0]), 'the write is complete or absent');
      // Likes of a deleted account are removed with a delay.
      while (viewIndex >= 0 && !isSame(await readViews(fixture), views[viewIndex])) await sleep(50);
      if (response) t.equal(viewIndex, 1, 'an acknowledged write is complete');
      const again = await act(fixture);
      t.equal(again.status, statuses[viewIndex], 'the repeated write returns the expected status');
      t.same(await readViews(fixture), views[viewIndex + 1], 'the repeated write has the expected result');
    });
  }
}

const everyFailpoint: Record<Failpoint, true> = {
  'image enqueued': true,
  'image stored': true,
  'transaction committed': true,
  'node written': true,
  'delivery committed': true,
  'image removed': true,
  'likes written': true,
  'friendship written': true,
};
t.test('the service was killed at every failpoint', async (t) => {
  t.same([...failpointsHit].sort(), Object.keys(everyFailpoint).sort());
});

t.test('no store has leftovers at the end', async (t) => {
  t.equal(await service.end('SIGTERM'), 0);
  await expectNoLeftovers(t, environment);
});
