import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import type { Failpoint } from '../../db/support/failpoints.js';
import { samples } from '../../scripts/contract-test/client/index.js';
import { findFreePort } from '../../scripts/services/ports.js';
import { createCrashableProcesses } from '../faults/failpoints.js';
import { expectNoLeftovers } from '../support/consistency.js';
import { createSender, type TestResponse } from '../support/http.js';
import type { ServiceProcess } from '../support/processes.js';
import { createPost, picture } from '../support/service.js';
import { freshStores } from '../support/stores.js';
import { until } from '../support/until.js';
import { PASSWORD, type RegisteredUser, registerUser } from '../support/users.js';

/*
 * Kills the service at each failpoint of each write that changes more than one store, and restarts it. Each write is first run,
 * and repeated, without a kill. After a kill, the users must see what they saw before or after the write. If the write is then
 * repeated, its result must be the same as without a kill.
 */

t.setTimeout(0);

interface User extends Pick<RegisteredUser, 'id' | 'send'> {
  name: string;
}

/** `ada` is private. `bea` is her friend, `cy` is a stranger. */
interface Fixture {
  ada: User;
  bea: User;
  cy: User;
  /** The id of a post by Ada, which Bea likes. Ada likes a post by Bea, too. */
  adasPostId: number;
  /** The account of another user, `dan`, if its registration is the write. */
  registration?: { name: string; username: string; email: string; password: string };
}

interface Write {
  /** Changes the fixture, so that the write applies. */
  prepare?(fixture: Fixture): Promise<unknown>;
  act(fixture: Fixture): Promise<TestResponse>;
}

const unfriend = ({ ada, bea }: Fixture) => ada.send('DELETE', `/friends/remove?id=${bea.id}`);
const request = ({ ada, bea }: Fixture) => bea.send('POST', `/friends/request?to=${ada.id}`);

// Other writes hit no other failpoints, because they are parts of these: a new post without an image, the removal of an image.
const writes: Record<string, Write> = {
  'a registration': {
    prepare: async (fixture) => {
      const username = `dan${randomBytes(6).toString('hex')}`;
      fixture.registration = { name: 'Dan', username, email: `${username}@people.example`, password: PASSWORD };
    },
    act: ({ registration }) => send('POST', '/auth/register', { json: registration }),
  },
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
  'the deletion of a post': { act: ({ ada, adasPostId }) => ada.send('DELETE', `/posts/delete?id=${adasPostId}`) },
  'another picture': {
    act: ({ ada }) => ada.send('PUT', '/profiles/me', { form: { name: 'Ada the Great', image: picture('jpeg') } }),
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

// With this timeout, the second delivery of a removal is due only after five minutes. With the default, it would be due while
// the baselines are recorded, and hit failpoints too. The port is the same after each restart.
const environment = {
  NEO4J_TIMEOUT: '60000',
  PORT: String(await findFreePort()),
  ...(await freshStores(t)),
};
const processes = await createCrashableProcesses(t);
let service: ServiceProcess = await processes.start(environment);
const send = createSender(t, service.url);

async function createFixture(): Promise<Fixture> {
  const register = async (name: string) => ({ ...(await registerUser(t, service.url)), name });
  const [ada, bea, cy] = await Promise.all([register('ada'), register('bea'), register('cy')]);
  await ada.send('PUT', '/profiles/me', { form: { private: 'true', image: picture('gif') } });
  const form = { image: picture('png') };
  const [adasPost, beasPost] = [await createPost(ada, form), await createPost(bea, form)];
  const fixture = { ada, bea, cy, adasPostId: adasPost.id };
  await request(fixture);
  await ada.send('POST', `/friends/accept?from=${bea.id}`);
  await ada.send('POST', `/posts/like?id=${beasPost.id}`);
  await bea.send('POST', `/posts/like?id=${adasPost.id}`);
  return fixture;
}

/** Returns everything that each user sees, without ids and names that differ between fixtures. */
async function readViews({ ada, bea, cy, registration }: Fixture): Promise<unknown> {
  const users: User[] = [ada, bea, cy];
  if (registration) {
    const { email, password } = registration;
    const { status, body } = await send('POST', '/auth/login', { json: { email, password } });
    const sendAsDan: User['send'] = (method, path, more) => send(method, path, { token: body.token, ...more });
    if (status === 200) users.push({ name: 'dan', id: body.id, send: sendAsDan });
  }
  const views = users.map(async (viewer) => {
    const { status } = await viewer.send('GET', '/auth/me');
    return [viewer.name, status === 200 ? await view(viewer, users) : status];
  });
  return Object.fromEntries(await Promise.all(views));
}

async function view(viewer: User, users: readonly User[]) {
  const names = new Map(users.map(({ id, name }) => [id, name]));
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
    .map(async ({ author_id, title, text, liked_by_me, like_count: likeCount, image: link }) => ({
      author: names.get(author_id),
      ...{ title, text, liked_by_me, likeCount },
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

/**
 * Runs a write twice without a kill. Returns both statuses, what the users see before, between and after, and the failpoints
 * that the first run hits.
 */
async function recordBaseline({ prepare, act }: Write) {
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

const withoutLikeCounts = (views: unknown) =>
  JSON.parse(JSON.stringify(views, (key, value) => (key === 'likeCount' ? undefined : value)));

/** The failpoints at which the service was killed. */
const failpointsHit = new Set<Failpoint>();

// Before the first kill: after it, the relay would hit failpoints too.
const baselines: ({ name: string } & Write & Awaited<ReturnType<typeof recordBaseline>>)[] = [];
for (const [name, write] of Object.entries(writes))
  baselines.push({ name, ...write, ...(await recordBaseline(write)) });

for (const { name, act, prepare, statuses, views, hits } of baselines) {
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

      const current = withoutLikeCounts(await readViews(fixture));
      /** How often the write has taken effect: 0 or 1. */
      const timesDone = views.slice(0, 2).findIndex((view) => isDeepStrictEqual(withoutLikeCounts(view), current));
      if (timesDone < 0) t.same(current, withoutLikeCounts(views[0]), 'the write is complete or absent');
      // Likes of a deleted account are removed with a delay.
      await until(async () => timesDone < 0 || isDeepStrictEqual(await readViews(fixture), views[timesDone]));
      if (response) t.equal(timesDone, 1, 'an acknowledged write is complete');
      const again = await act(fixture);
      t.equal(again.status, statuses[timesDone], 'the repeated write returns the expected status');
      t.same(await readViews(fixture), views[timesDone + 1], 'the repeated write has the expected result');
    });
  }
}

/** An object, so that the compiler reports a missing failpoint. */
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
