import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import type { StoreName } from '../../db/support/errors.js';
import { drainOutbox } from '../support/consistency.js';
import type { HttpOptions, TestResponse } from '../support/http.js';
import { befriend, createPost, PASSWORD, picture, type TestService, type TestUser } from '../support/service.js';
import { until } from '../support/until.js';

/** A request, the stores that it needs besides PostgreSQL, and the status of its response when they are available. */
interface Probe {
  name: string;
  needs: StoreName[];
  status: number;
  send(): Promise<TestResponse>;
}

interface OperationProbes {
  /** One request for each kind of operation. They are independent of each other. */
  probes: Probe[];
  /** Returns a description of each response that shows data of a private account to a stranger. There must be none. */
  leaks(): Promise<string[]>;
}

const SECRET = 'only friends may read this';

/** Creates accounts and probes. `ada` is public, `hermit` private. `bob` is a friend of both, `eve` of neither. */
export async function createProbes(service: TestService): Promise<OperationProbes> {
  const [ada, bob] = [await service.createUser(), await service.createUser()];
  const [eve, leaver] = [await service.createUser(), await service.createUser()];
  const hermit = await service.createUser({ name: SECRET, private: true });
  await befriend(ada, bob);
  await befriend(hermit, bob);
  await eve.send('POST', `/friends/request?to=${ada.id}`);
  await leaver.send('POST', `/friends/request?to=${bob.id}`);
  const { body } = await hermit.send('PUT', '/profiles/me', { form: { image: picture() } });
  const hiddenPicture: string = body.profile_link;
  const post = await createPost(ada, { image: picture() });
  const deleted = await createPost(ada, { image: picture() });
  const edited = await createPost(ada);
  const hidden = await createPost(hermit, { title: SECRET, image: picture() });
  const otherToken = await service.login(ada.email);

  const probe = (
    name: string,
    needs: StoreName[],
    by: TestUser,
    method: string,
    path: string,
    { status = 200, ...options }: HttpOptions & { status?: number } = {},
  ): Probe => ({ name, needs, status, send: () => by.send(method, path, options) });
  const username = `u${randomBytes(6).toString('hex')}`;
  const json = { name: 'New', username, email: `${username}@people.example`, password: PASSWORD };

  const probes = [
    probe('register', [], ada, 'POST', '/auth/register', { status: 201, json }),
    probe('login', [], ada, 'POST', '/auth/login', { json: { email: ada.email, password: PASSWORD } }),
    probe('me', [], ada, 'GET', '/auth/me'),
    probe('sessions', [], ada, 'GET', '/auth/sessions'),
    probe('logout', [], ada, 'POST', '/auth/logout', { token: otherToken }),
    probe('own profile', [], hermit, 'GET', '/profiles/me'),
    probe('own profile by id', [], hermit, 'GET', `/profiles/${hermit.id}`),
    probe('a public profile', [], eve, 'GET', `/profiles/${ada.id}`),
    probe('a private profile', ['graph'], bob, 'GET', `/profiles/${hermit.id}`),
    probe('a change of name', [], eve, 'PUT', '/profiles/me', { form: { name: 'Eve' } }),
    probe('a change of picture', ['images'], eve, 'PUT', '/profiles/me', { form: { image: picture() } }),
    probe('account deletion', [], leaver, 'DELETE', '/profiles/me', { json: { password: PASSWORD } }),
    probe('a public image', ['images'], eve, 'GET', String(post.image)),
    probe('own private image', ['images'], hermit, 'GET', String(hidden.image)),
    probe('a private image', ['graph', 'images'], bob, 'GET', String(hidden.image)),
    probe('a private picture', ['graph', 'images'], bob, 'GET', hiddenPicture),
    probe('feed', ['graph'], bob, 'GET', '/posts'),
    probe('own posts', ['graph'], ada, 'GET', '/posts/me'),
    probe('a post', ['graph'], eve, 'GET', `/posts/${post.id}`),
    // A missing post also needs the graph. Otherwise it could be distinguished from a hidden one.
    probe('a missing post', ['graph'], eve, 'GET', '/posts/9007199254740991', { status: 404 }),
    probe('a like of a missing post', ['graph'], eve, 'POST', '/posts/like?id=9007199254740991', { status: 404 }),
    probe('a new post', [], ada, 'POST', '/posts/create', { status: 201, form: { title: 'T', text: 'T' } }),
    probe('a new post with an image', ['images'], ada, 'POST', '/posts/create', {
      status: 201,
      form: { title: 'T', text: 'T', image: picture() },
    }),
    probe('an edit of a post', ['graph'], ada, 'PUT', `/posts/edit?id=${edited.id}`, { form: { title: 'New' } }),
    probe('the deletion of a post', [], ada, 'DELETE', `/posts/delete?id=${deleted.id}`),
    probe('a like', ['graph'], bob, 'POST', `/posts/like?id=${post.id}`),
    probe('an unlike without a like', ['graph'], eve, 'DELETE', `/posts/like?id=${post.id}`),
    probe('friends', ['graph'], bob, 'GET', '/friends'),
    probe('requests', ['graph'], ada, 'GET', '/friends/requests'),
    probe('a request', ['graph'], ada, 'POST', `/friends/request?to=${hermit.id}`),
    probe('an accepted request', ['graph'], ada, 'POST', `/friends/accept?from=${eve.id}`),
    probe('an end of friendship', ['graph'], ada, 'DELETE', `/friends/remove?id=${bob.id}`),
  ];

  const leakChecks: [path: string, isLeak: (response: TestResponse) => boolean][] = [
    [`/posts/${hidden.id}`, ({ status }) => status === 200],
    [String(hidden.image), ({ status }) => status === 200],
    [hiddenPicture, ({ status }) => status === 200],
    [`/profiles/${hermit.id}`, ({ body }) => 'profile_link' in body],
    ['/posts?limit=100', ({ bytes }) => bytes.includes(SECRET)],
  ];
  return {
    probes,
    async leaks() {
      const responses = leakChecks.map(async ([path, isLeak]) => {
        const response = await eve.send('GET', path);
        return isLeak(response) ? [`${path}: ${response.status} ${response.bytes}`] : [];
      });
      return (await Promise.all(responses)).flat();
    },
  };
}

/**
 * Sends all probes concurrently while a store is unavailable. Expects 503 for those that need it, success for the others, and
 * no leak.
 */
export async function expectFailures(t: Test, store: StoreName, { probes, leaks }: OperationProbes): Promise<void> {
  const sent = probes.map(async ({ name, needs, status, send }) => {
    const response = await send();
    const isNeeded = store === 'postgres' || needs.includes(store);
    t.equal(response.status, isNeeded ? 503 : status, name);
    if (isNeeded) t.ok(response.headers.get('retry-after'), `${name}: has Retry-After`);
  });
  const [leaked] = await Promise.all([leaks(), ...sent]);
  t.same(leaked, [], 'no hidden content is shown');
}

/** Sends all probes in turn. Expects each one to succeed and to be counted in a rate limit, and no leak. */
export async function expectSuccesses(t: Test, { probes, leaks }: OperationProbes): Promise<void> {
  for (const { name, status, send } of probes) {
    const response = await send();
    t.equal(response.status, status, name);
    t.ok(response.headers.get('x-ratelimit-remaining'), `${name}: has rate limit headers`);
  }
  t.same(await leaks(), [], 'no hidden content is shown');
}

/** Expects every operation to succeed again without a restart, and drains the outbox. */
export async function expectRecovery(t: Test, service: TestService): Promise<void> {
  await until(async () => (await fetch(`${service.opsUrl}/readyz`)).ok);
  await expectSuccesses(t, await createProbes(service));
  await drainOutbox(service.stores);
  t.pass('the outbox is empty');
}
