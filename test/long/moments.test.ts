import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Failpoint } from '../../db/support/failpoints.js';
import { samples } from '../../scripts/contract-test/images.js';
import { type Deadly, mortalProcesses } from '../faults/moments.js';
import type { ServiceProcess } from '../support/processes.js';
import { leavesNothing } from '../support/remains.js';
import { createSender, type RequestOptions, type TestResponse } from '../support/requests.js';
import { PASSWORD } from '../support/service.js';
import { freshStores } from '../support/stores.js';

/*
 * The service is killed at each moment of each write that reaches more than one store, and started again. Each write is made
 * once without a kill: what everybody sees before it, after it, and after a second try is all that anybody may see with one.
 */

t.setTimeout(0);

type Name = 'ada' | 'bea' | 'cy' | 'dan';

interface Person {
  name: Name;
  id: number;
  email: string;
  token: string | undefined;
  ask(method: string, path: string, more?: RequestOptions): Promise<TestResponse>;
}

/** Ada is private. Bea is her friend, Cy is a stranger to her, and Dan comes where somebody has to be new. */
type Cast = Record<'ada' | 'bea' | 'cy', Person> & {
  dan?: Person;
  /** A post of Ada's, with an image and Bea's like, and one of Bea's with Ada's. */
  adas: number;
  beas: number;
};

interface Write {
  prepare?(cast: Cast): Promise<unknown>;
  act(cast: Cast): Promise<TestResponse>;
}

const picture = (kind: 'png' | 'gif' | 'jpeg') => new Blob([samples[kind]], { type: `image/${kind}` });

const unfriend = ({ ada, bea }: Cast) => ada.ask('DELETE', `/friends/remove?id=${bea.id}`);
const request = ({ ada, bea }: Cast) => bea.ask('POST', `/friends/request?to=${ada.id}`);
const asked = async (cast: Cast) => [await unfriend(cast), await request(cast)];

const writes: Record<string, Write> = {
  'a registration': {
    prepare: async (cast) => {
      cast.dan = person('dan');
    },
    act: ({ dan, cy }) => register(dan ?? cy),
  },
  'a new post': { act: ({ ada }) => ada.ask('POST', '/posts/create', { form: { title: 'New', text: 'Text' } }) },
  'a new post with an image and an idempotency key': {
    act: ({ ada }) =>
      ada.ask('POST', '/posts/create', {
        form: { title: 'New', text: 'Text', image: picture('gif') },
        headers: { 'Idempotency-Key': 'the-same-each-time' },
      }),
  },
  'an edit with another image': {
    act: ({ ada, adas }) =>
      ada.ask('PUT', `/posts/edit?id=${adas}`, { form: { title: 'Other', image: picture('jpeg') } }),
  },
  'an edit that removes the image': {
    act: ({ ada, adas }) => ada.ask('PUT', `/posts/edit?id=${adas}`, { form: { text: 'Bare', remove_image: 'true' } }),
  },
  'the deletion of a post': { act: ({ ada, adas }) => ada.ask('DELETE', `/posts/delete?id=${adas}`) },
  'another picture': {
    act: ({ ada }) => ada.ask('PUT', '/profiles/me', { form: { name: 'Ada the Great', image: picture('jpeg') } }),
  },
  'the removal of the picture': {
    act: ({ ada }) => ada.ask('PUT', '/profiles/me', { form: { remove_image: 'true' } }),
  },
  'the deletion of an account': {
    act: ({ ada }) => ada.ask('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
  },
  'a like': {
    prepare: ({ bea, adas }) => bea.ask('DELETE', `/posts/like?id=${adas}`),
    act: ({ bea, adas }) => bea.ask('POST', `/posts/like?id=${adas}`),
  },
  'the end of a like': { act: ({ bea, adas }) => bea.ask('DELETE', `/posts/like?id=${adas}`) },
  'a friend request': { prepare: unfriend, act: request },
  'a friend request by the other route': {
    prepare: unfriend,
    act: ({ ada, bea }) => bea.ask('POST', `/create_relationship?me=${bea.id}&them=${ada.id}`),
  },
  'its acceptance': {
    prepare: asked,
    act: ({ ada, bea }) => ada.ask('POST', `/friends/accept?from=${bea.id}`),
  },
  'its refusal': { prepare: asked, act: ({ ada, bea }) => ada.ask('POST', `/friends/decline?from=${bea.id}`) },
  'its withdrawal': { prepare: asked, act: ({ ada, bea }) => bea.ask('POST', `/friends/cancel?to=${ada.id}`) },
  'the end of a friendship': { act: unfriend },
};

// Not in this test's time does anything come a second time to where it has been delivered.
const environment = { NEO4J_TIMEOUT: '60000', ...(await freshStores(t)) };
const mortal = await mortalProcesses(t);
let service: ServiceProcess = await mortal.start(environment);

function person(name: Name): Person {
  const id = randomBytes(6).toString('hex');
  const self: Person = {
    name,
    id: 0,
    email: `${name}${id}@people.example`,
    token: undefined,
    ask: (method, path, more) =>
      createSender(t, service.url)(method, path, { ...(self.token !== undefined && { token: self.token }), ...more }),
  };
  return self;
}

function register({ name, email, ask }: Person): Promise<TestResponse> {
  const username = email.replace('@people.example', '');
  return ask('POST', '/auth/register', { json: { name, username, email, password: PASSWORD } });
}

/** False when there is no such account. */
async function login(self: Person): Promise<boolean> {
  const { status, body } = await self.ask('POST', '/auth/login', { json: { email: self.email, password: PASSWORD } });
  if (status === 200) Object.assign(self, { id: body.id, token: body.token });
  return status === 200;
}

async function arrange(): Promise<Cast> {
  const [ada, bea, cy] = [person('ada'), person('bea'), person('cy')];
  await Promise.all([ada, bea, cy].map(async (somebody) => [await register(somebody), await login(somebody)]));
  await ada.ask('PUT', '/profiles/me', { form: { private: 'true', image: picture('gif') } });
  const post = { title: 'Old', text: 'Text', image: picture('png') };
  const cast: Cast = { ada, bea, cy, adas: 0, beas: 0 };
  cast.adas = (await ada.ask('POST', '/posts/create', { form: post })).body.id;
  cast.beas = (await bea.ask('POST', '/posts/create', { form: post })).body.id;
  await request(cast);
  await ada.ask('POST', `/friends/accept?from=${bea.id}`);
  await ada.ask('POST', `/posts/like?id=${cast.beas}`);
  await bea.ask('POST', `/posts/like?id=${cast.adas}`);
  return cast;
}

/** All that anybody sees of these people, without a word that another cast would not see in their place. */
async function look(cast: Cast): Promise<unknown> {
  const people = [cast.ada, cast.bea, cast.cy, ...(cast.dan ? [cast.dan] : [])];
  for (const somebody of people) if (somebody.token === undefined) await login(somebody);
  const names = new Map(people.map(({ id, name }) => [id, name]));
  const views: Record<string, unknown> = {};
  for (const viewer of people) {
    const { status } = await viewer.ask('GET', '/auth/me');
    views[viewer.name] = status === 200 ? await view(viewer, people, names) : status;
  }
  return views;
}

async function view(viewer: Person, people: readonly Person[], names: ReadonlyMap<number, Name>) {
  const image = async (link: string | null | undefined) => {
    if (!link) return link;
    const { status, bytes } = await viewer.ask('GET', link);
    return status === 200 ? Object.entries(samples).find(([, sample]) => sample.equals(bytes))?.[0] : status;
  };
  const profiles = people.map(async ({ id, name }) => {
    const { status, body } = await viewer.ask('GET', `/profiles/${id}`);
    return [name, status, body.name, body.private, await image(body.profile_link)];
  });
  const feed = (await viewer.ask('GET', '/posts?limit=100')).body as TestResponse['body'][];
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
    friends: namesOf(await viewer.ask('GET', '/friends')),
    requests: namesOf(await viewer.ask('GET', '/friends/requests')),
  };
}

/** What an undisturbed write does: everybody's view, and the status, before and after it and after it again. */
interface Course {
  statuses: number[];
  views: unknown[];
  moments: Deadly[];
}

async function watch({ prepare, act }: Write): Promise<Course> {
  const cast = await arrange();
  await prepare?.(cast);
  const before = await look(cast);
  mortal.count(undefined);
  const first = await act(cast);
  const moments = mortal.reached();
  const after = await look(cast);
  const second = await act(cast);
  return { statuses: [first.status, second.status], views: [before, after, await look(cast)], moments };
}

const courses = new Map<string, Course>();
for (const [name, write] of Object.entries(writes)) courses.set(name, await watch(write));

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const withoutLikes = (view: unknown) =>
  JSON.parse(JSON.stringify(view, (key, value) => (key === 'likes' ? undefined : value)));

/** At which the service was killed. */
const deadlyOnes = new Set<Failpoint>();

for (const [name, { act, prepare }] of Object.entries(writes)) {
  const { statuses, views, moments } = courses.get(name) as Course;
  for (const deadly of moments) {
    await t.test(`${name}, killed at "${deadly.moment}", time ${deadly.time}`, async (t) => {
      const cast = await arrange();
      await prepare?.(cast);
      mortal.count(deadly);
      const dead = new Promise((resolve) => service.child.once('exit', (_, signal) => resolve(signal)));
      const answer = await act(cast).catch(() => undefined);
      // What the request has delivered before may be the relay's doing this time, which has its own pace.
      if (mortal.met(deadly)) deadlyOnes.add(deadly.moment);
      else service.child.kill('SIGKILL');
      t.equal(await dead, 'SIGKILL');
      service = await mortal.start(environment);

      const now = withoutLikes(await look(cast));
      const happened = views.slice(0, 2).findIndex((view) => same(withoutLikes(view), now));
      if (happened < 0) t.same(now, withoutLikes(views[0]), 'wholly or not at all');
      // The likes of somebody who has left go a little later.
      while (happened >= 0 && !same(await look(cast), views[happened])) await sleep(50);
      if (answer) t.equal(happened, 1, 'what was acknowledged has happened');
      const again = await act(cast);
      t.equal(again.status, statuses[happened], 'a second try answers what is true');
      t.same(await look(cast), views[happened + 1], 'and leaves what it should');
    });
  }
}

const everyMoment: Record<Failpoint, true> = {
  'image noted': true,
  'image stored': true,
  'changes committed': true,
  'node written': true,
  'delivery marked': true,
  'image removed': true,
  'likes written': true,
  'friendship written': true,
};
t.same([...deadlyOnes].sort(), Object.keys(everyMoment).sort(), 'it was killed at every moment there is');

t.test('in the end, nothing is left over in any store', async (t) => {
  t.equal(await service.end('SIGTERM'), 0);
  await leavesNothing(t, environment);
});
