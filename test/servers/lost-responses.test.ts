import t, { type Test } from 'tap';
import { samples } from '../../scripts/contract-test/client/index.js';
import { needsAllServers } from '../faults/faulty-stores.js';
import { drainOutbox, expectConsistentStores } from '../support/consistency.js';
import type { TestResponse } from '../support/http.js';
import { type FaultyProxy, startProxy } from '../support/proxy.js';
import {
  befriend,
  createPost,
  PASSWORD,
  picture,
  startTestService,
  type TestService,
  type TestUser,
} from '../support/service.js';
import { freshStores } from '../support/stores.js';
import { until } from '../support/until.js';

const DEVICE = 'A device whose login response is lost';
const TITLE = 'A post whose response is lost';

interface Write {
  uploads?: true;
  /** A text that only the statement contains which commits the write. Without it, the write is a transaction. */
  committedBy?: string;
  /**
   * Prepares the write of a new user; `other` is another new user. Returns a function that sends the write, and one that returns
   * whether it has taken effect completely.
   */
  arrange(
    user: TestUser,
    other: TestUser,
    service: TestService,
  ): Promise<{ send(): Promise<TestResponse>; hasTakenEffect(): Promise<boolean> }>;
}

const logIn = ({ send }: TestService, email: string, password: string, headers = {}) =>
  send('POST', '/auth/login', { json: { email, password }, headers });

const WRITES: Record<string, Write> = {
  login: {
    committedBy: DEVICE,
    async arrange(user, _, service) {
      const sessions = async () => (await user.send('GET', '/auth/sessions')).body.length;
      const before = await sessions();
      return {
        send: () => logIn(service, user.email, PASSWORD, { 'User-Agent': DEVICE }),
        hasTakenEffect: async () => (await sessions()) > before,
      };
    },
  },
  'a post with an image': {
    uploads: true,
    committedBy: TITLE,
    arrange: async (user) => ({
      send: () => user.send('POST', '/posts/create', { form: { title: TITLE, text: 'T', image: picture() } }),
      async hasTakenEffect() {
        const [post] = (await user.send('GET', '/posts/me')).body;
        return post !== undefined && (await user.send('GET', post.image)).bytes.equals(samples.png);
      },
    }),
  },
  'a post with an idempotency key': {
    async arrange(user) {
      const form = { title: 'T', text: 'T', image: picture() };
      const send = () => user.send('POST', '/posts/create', { form, headers: { 'Idempotency-Key': 'k' } });
      return {
        send,
        async hasTakenEffect() {
          const [post] = (await user.send('GET', '/posts/me')).body;
          const retry = await send();
          const posts = (await user.send('GET', '/posts/me')).body;
          return retry.status === 201 && posts.length === 1 && retry.body.id === post?.id;
        },
      };
    },
  },
  'a like': {
    async arrange(user) {
      const { id } = await createPost(user);
      return {
        send: () => user.send('POST', `/posts/like?id=${id}`),
        async hasTakenEffect() {
          const { body } = await user.send('GET', `/posts/${id}`);
          return body.liked_by_me && body.like_count === 1;
        },
      };
    },
  },
  'a change of password and picture': {
    uploads: true,
    async arrange(user, _, service) {
      const password = 'Other-Lantern-81!';
      const form = { password, current_password: PASSWORD, image: picture() };
      return {
        send: () => user.send('PUT', '/profiles/me', { form }),
        hasTakenEffect: async () =>
          (await logIn(service, user.email, password)).status === 200 &&
          (await user.send('GET', '/auth/me')).status === 401,
      };
    },
  },
  'account deletion': {
    async arrange(user, other) {
      await befriend(user, other);
      const { id } = await createPost(user, { image: picture() });
      await other.send('POST', `/posts/like?id=${id}`);
      return {
        send: () => user.send('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
        hasTakenEffect: async () => (await other.send('GET', `/profiles/${user.id}`)).status === 404,
      };
    },
  },
};

t.test('writes whose response from a store is lost', needsAllServers, async (t) => {
  const environment = await freshStores(t);
  const postgres = await startProxy(t, environment.DATABASE_URL ?? '');
  const s3 = await startProxy(t, environment.S3_ENDPOINT ?? '');
  const service = await startTestService(t, { ...environment, DATABASE_URL: postgres.url, S3_ENDPOINT: s3.url });

  /**
   * Sends a write, and cuts the store's response to the first message that contains `trigger`. Returns the status of the
   * write, and whether the write has taken effect.
   */
  async function loseResponse(t: Test, { arrange }: Write, proxy: FaultyProxy, trigger: string) {
    const { send, hasTakenEffect } = await arrange(await service.createUser(), await service.createUser(), service);
    // Otherwise the relay could commit at the same time, and its response would be lost instead.
    await drainOutbox(service.stores);
    await service.stores.db.deleteFrom('outbox').where('delivered', '=', true).execute();
    const cut = proxy.cutResponseTo(trigger);
    const [response] = await Promise.all([send(), cut]);
    await until(async () => (await fetch(`${service.opsUrl}/readyz`)).ok);
    const tookEffect = await hasTakenEffect();
    await expectConsistentStores(t, service.stores);
    return { status: response.status, tookEffect };
  }

  for (const [name, write] of Object.entries(WRITES)) {
    t.test(`PostgreSQL commits ${name}`, async (t) => {
      const commit = write.committedBy ?? 'commit\0';
      t.same(await loseResponse(t, write, postgres, commit), { status: 503, tookEffect: true });
    });
  }
  for (const [name, write] of Object.entries(WRITES).filter(([, { uploads }]) => uploads)) {
    t.test(`S3 stores the bytes of ${name}, and the upload is repeated`, async (t) => {
      const { status, tookEffect } = await loseResponse(t, write, s3, 'PUT /');
      t.ok(status < 300 && tookEffect, `status ${status}`);
    });
  }
});
