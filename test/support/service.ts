import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { components } from '../../generated/types.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { overloaded } from '../../handlers/errors.js';
import { startService } from '../../handlers/service.js';
import { samples } from '../../scripts/contract-test/client/index.js';
import { createSender, type HttpOptions, type TestResponse } from './http.js';
import { HIGH_RATE_LIMITS } from './processes.js';
import { freshStores, withClaimedGraph } from './stores.js';
import { createUserFactory, PASSWORD, type TestUser } from './users.js';

export { NEW_PASSWORD, PASSWORD, type TestUser, WRONG_PASSWORD } from './users.js';

/** Store timeouts, in milliseconds, that are not exceeded even on a busy machine. */
export const LONG_TIMEOUTS = { DATABASE_TIMEOUT: '20000', NEO4J_TIMEOUT: '20000' };

export type TestService = Awaited<ReturnType<typeof startTestService>>;

/** Starts a service with high rate limits, on fresh stores unless `DATA_DIR` is given. It stops when the test ends. */
export async function startTestService(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const usesExistingStores = environment.DATA_DIR !== undefined;
  const variables: NodeJS.ProcessEnv = { ...(usesExistingStores ? {} : await freshStores(t)), ...environment };
  let log = '';
  const sink = {
    write(line: string) {
      log += line;
    },
  };
  const config = readConfig({ PORT: '0', OPS_PORT: '0', ...HIGH_RATE_LIMITS, ...variables });
  const service = await withClaimedGraph(variables, () => startService(config, createLogger(config, sink)));
  let running = true;
  const stop = async () => {
    if (running) await service.stop();
    running = false;
  };
  t.teardown(stop);
  const send = createSender(t, service.url);
  const createUser = await createUserFactory({ stores: service.stores, tokens: service.context.tokens, send });
  /** Logs in with `PASSWORD`, and returns the token. */
  const login = async (email: string) => {
    const { body } = await retryWhileBusy(() => send('POST', '/auth/login', { json: { email, password: PASSWORD } }));
    return body.token as string;
  };

  return {
    ...service,
    stop,
    /** The variables to start another service on the same stores. */
    environment: variables,
    logged: () => log,
    send,
    login,
    async createUser({ name = 'Test User', private: isPrivate = false } = {}) {
      const user = await createUser({ name, strong: true });
      if (isPrivate) await user.send('PUT', '/profiles/me', { form: { private: 'true' } });
      return user;
    },
  };
}

const MAX_RETRIES = 10;

/**
 * Retries a request, after the time in Retry-After, while the service is overloaded. On a busy machine, a few concurrent tests
 * can fill the queue of password hashes.
 */
export async function retryWhileBusy(send: () => Promise<TestResponse>): Promise<TestResponse> {
  for (let retries = 0; ; retries += 1) {
    const response = await send();
    const isBusy = response.body?.code === overloaded().code;
    if (!isBusy || retries === MAX_RETRIES) return response;
    await sleep(Number(response.headers.get('retry-after')) * 1000);
  }
}

export async function createPost(
  author: Pick<TestUser, 'send'>,
  form: HttpOptions['form'] = {},
): Promise<components['schemas']['Post']> {
  const { body } = await author.send('POST', '/posts/create', { form: { title: 'A title', text: 'A text', ...form } });
  return body;
}

export async function befriend(one: TestUser, other: TestUser): Promise<void> {
  await one.send('POST', `/friends/request?to=${other.id}`);
  await other.send('POST', `/friends/accept?from=${one.id}`);
}

type ImageType = Exclude<keyof typeof samples, 'apng'>;

export const picture = (type: ImageType = 'png') => new Blob([samples[type]], { type: `image/${type}` });

/** Sends a few requests that touch every store, the outbox, password hashes and security events. */
export async function sendTraffic(service: TestService): Promise<void> {
  const user = await service.createUser();
  await service.login(user.email);
  const post = await createPost(user, { image: picture() });
  await user.send('GET', post.image ?? '');
  await user.send('POST', `/posts/like?id=${post.id}`);
  await user.send('GET', '/posts');
  await user.send('GET', `/posts/${post.id}`);
}
