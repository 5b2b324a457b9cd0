import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { samples } from '../../scripts/contract-test/images.js';
import { needsProxy } from '../faults/toxiproxy.js';
import { agree } from '../support/agreement.js';
import { startProxy, type Proxy as Way } from '../support/proxy.js';
import type { TestResponse } from '../support/requests.js';
import { befriend, createPost, PASSWORD, type Person, startTestService, type TestService } from '../support/service.js';
import { freshStores } from '../support/stores.js';

const image = () => new Blob([samples.png], { type: 'image/png' });

const DEVICE = 'A device whose login is lost';
const TITLE = 'A post whose answer is lost';

interface Write {
  name: string;
  uploads?: true;
  /** What is sent to PostgreSQL with what it commits; `commit` unless that is a statement by itself. */
  words?: string;
  /** Arranges what the write needs, and answers the write, and whether it has happened. */
  arrange(service: TestService): Promise<{ ask(): Promise<TestResponse>; happened(): Promise<boolean> }>;
}

const found = async (answer: Promise<TestResponse>) => (await answer).status === 200;

function ofPost(
  name: string,
  ask: (ada: Person, id: number) => Promise<TestResponse>,
  seen: (post: TestResponse) => boolean,
): Write {
  return {
    name,
    async arrange(service) {
      const ada = await service.createUser();
      const { id } = await createPost(ada, { image: image() });
      return { ask: () => ask(ada, id), happened: async () => seen(await ada.send('GET', `/posts/${id}`)) };
    },
  };
}

const WRITES: Write[] = [
  {
    name: 'register',
    async arrange(service) {
      const { username, email, ...somebody } = await service.createUser();
      const json = { name: somebody.name, username: `x${username}`, email: `x${email}`, password: PASSWORD };
      return {
        ask: () => service.send('POST', '/auth/register', { json }),
        happened: () => found(service.send('POST', '/auth/login', { json: { email: json.email, password: PASSWORD } })),
      };
    },
  },
  {
    name: 'login',
    words: DEVICE,
    async arrange(service) {
      const ada = await service.createUser();
      const sessions = async () => (await ada.send('GET', '/auth/sessions')).body.length;
      const before = await sessions();
      const json = { email: ada.email, password: PASSWORD };
      return {
        ask: () => service.send('POST', '/auth/login', { json, headers: { 'User-Agent': DEVICE } }),
        happened: async () => (await sessions()) > before,
      };
    },
  },
  {
    name: 'a post with an image',
    words: TITLE,
    uploads: true,
    async arrange(service) {
      const ada = await service.createUser();
      return {
        ask: () => ada.send('POST', '/posts/create', { form: { title: TITLE, text: 'T', image: image() } }),
        async happened() {
          const [post] = (await ada.send('GET', '/posts/me')).body;
          return post !== undefined && (await ada.send('GET', post.image)).bytes.equals(samples.png);
        },
      };
    },
  },
  {
    name: 'a post with an idempotency key',
    async arrange(service) {
      const ada = await service.createUser();
      const form = { title: 'T', text: 'T', image: image() };
      const ask = () => ada.send('POST', '/posts/create', { form, headers: { 'Idempotency-Key': 'k' } });
      return {
        ask,
        async happened() {
          const [post] = (await ada.send('GET', '/posts/me')).body;
          const retry = await ask();
          const posts = (await ada.send('GET', '/posts/me')).body;
          return retry.status === 201 && posts.length === 1 && retry.body.id === post?.id;
        },
      };
    },
  },
  ofPost(
    'an edit with an image',
    (ada, id) => ada.send('PUT', `/posts/edit?id=${id}`, { form: { title: 'New', image: image() } }),
    ({ body }) => body.title === 'New',
  ),
  ofPost(
    'a deletion of a post',
    (ada, id) => ada.send('DELETE', `/posts/delete?id=${id}`),
    ({ status }) => status === 404,
  ),
  ofPost(
    'a like',
    (ada, id) => ada.send('POST', `/posts/like?id=${id}`),
    ({ body }) => body.liked_by_me && body.like_count === 1,
  ),
  {
    name: 'a change of the password',
    uploads: true,
    async arrange(service) {
      const ada = await service.createUser();
      const password = 'Other-Lantern-81!';
      return {
        ask: () => ada.send('PUT', '/profiles/me', { form: { password, current_password: PASSWORD, image: image() } }),
        async happened() {
          const json = { email: ada.email, password };
          const changed = await found(service.send('POST', '/auth/login', { json }));
          return changed && (await ada.send('GET', '/auth/me')).status === 401;
        },
      };
    },
  },
  {
    name: 'an accepted request',
    async arrange(service) {
      const [ada, bob] = [await service.createUser(), await service.createUser()];
      await ada.send('POST', `/friends/request?to=${bob.id}`);
      return {
        ask: () => bob.send('POST', `/friends/accept?from=${ada.id}`),
        happened: async () => (await ada.send('GET', '/friends')).body.length === 1,
      };
    },
  },
  {
    name: 'account deletion',
    async arrange(service) {
      const [ada, bob] = [await service.createUser(), await service.createUser()];
      await befriend(ada, bob);
      const { id } = await createPost(ada, { image: image() });
      await bob.send('POST', `/posts/like?id=${id}`);
      return {
        ask: () => ada.send('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
        happened: async () => (await bob.send('GET', `/profiles/${ada.id}`)).status === 404,
      };
    },
  },
];

t.test('a store does what it is asked, and its answer is lost', needsProxy, async (t) => {
  const environment = await freshStores(t);
  const postgres = await startProxy(t, environment.DATABASE_URL ?? '');
  const s3 = await startProxy(t, environment.S3_ENDPOINT ?? '');
  const service = await startTestService(t, { ...environment, DATABASE_URL: postgres.url, S3_ENDPOINT: s3.url });

  async function lose(t: Test, { arrange }: Write, proxy: Way, words: string) {
    const { ask, happened } = await arrange(service);
    // The relay must have no commits of its own just then.
    await service.stores.db.deleteFrom('outbox').where('delivered', '=', true).execute();
    const cut = proxy.cutAnswerTo(words);
    const [answer] = await Promise.all([ask(), cut]);
    t.equal(answer.status, 503);
    while ((await fetch(`${service.opsUrl}/readyz`)).status !== 200) await sleep(50);
    const has = await happened();
    await agree(t, service.stores);
    return has;
  }

  for (const write of WRITES) {
    t.test(`PostgreSQL commits ${write.name}`, async (t) => {
      t.ok(await lose(t, write, postgres, write.words ?? 'commit'), 'it has happened, and whole');
    });
  }
  for (const write of WRITES.filter(({ uploads }) => uploads)) {
    t.test(`S3 stores the bytes of ${write.name}`, async (t) => {
      t.notOk(await lose(t, write, s3, 'PUT /'), 'nothing has happened, and nobody’s bytes are gone');
    });
  }
});
