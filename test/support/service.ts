import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { components } from '../../generated/types.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { overloaded } from '../../handlers/http/errors.js';
import { type Service, startService } from '../../handlers/service.js';
import { createSender, type RequestOptions, type TestResponse } from './requests.js';
import { freshStores, onOwnGraph } from './stores.js';
import { createUserFactory, PASSWORD, type TestUser } from './users.js';

export { PASSWORD } from './users.js';

export type Person = TestUser;

export interface TestService extends Service {
  /** The variables by which another service serves on the same stores. */
  environment: NodeJS.ProcessEnv;
  /** All that was logged so far. */
  logged(): string;
  send(method: string, path: string, ask?: RequestOptions): Promise<TestResponse>;
  /** Creates a user who is logged in. */
  createUser(overrides?: { name?: string; private?: boolean }): Promise<Person>;
  login(email: string): Promise<string>;
}

/** A service, on a set of stores of its own unless the environment names one, which is stopped when the test ends. */
export async function startTestService(t: Test, environment: NodeJS.ProcessEnv = {}): Promise<TestService> {
  const named = environment.DATA_DIR !== undefined;
  const variables = { ...(named ? {} : await freshStores(t)), ...environment };
  let log = '';
  const sink = new Writable({
    write(chunk, _, done) {
      log += chunk;
      done();
    },
  });
  const config = readConfig({
    PORT: '0',
    OPS_PORT: '0',
    RATE_LIMIT_MAX: '1000000',
    RATE_LIMIT_STRICT_MAX: '1000000',
    ...variables,
  });
  const service = await onOwnGraph(variables, () => startService(config, createLogger(config.logLevel, sink)));
  let running = true;
  const stop = async () => {
    if (running) await service.stop();
    running = false;
  };
  t.teardown(stop);
  const send = createSender(t, service.url);
  const createUser = await createUserFactory({ stores: service.stores, tokens: service.context.tokens, send: send });
  const login = async (email: string) => {
    const { body } = await retryWhileBusy(() => send('POST', '/auth/login', { json: { email, password: PASSWORD } }));
    return body.token as string;
  };

  return {
    ...service,
    stop,
    environment: variables,
    logged: () => log,
    send,
    login,
    async createUser({ name = 'Some Body', private: isPrivate = false } = {}) {
      const person = await createUser({ name, strong: true });
      if (isPrivate) await person.send('PUT', '/profiles/me', { form: { private: 'true' } });
      return person;
    },
  };
}

const MAX_RETRIES = 10;

/**
 * Sends a request again while the service refuses it because too many passwords wait to be hashed, after the time that the
 * response names: on a busy machine a few tests at the same time are enough.
 */
export async function retryWhileBusy(send: () => Promise<TestResponse>): Promise<TestResponse> {
  const busy = overloaded();
  for (let retries = 0; ; retries += 1) {
    const answer = await send();
    const isBusy = answer.status === busy.status && answer.body?.message === busy.message;
    if (!isBusy || retries === MAX_RETRIES) return answer;
    await sleep(Number(answer.headers.get('retry-after')) * 1000);
  }
}

/** Publishes a post, and answers it. */
export async function createPost(
  author: Pick<Person, 'send'>,
  form: RequestOptions['form'] = {},
): Promise<components['schemas']['Post']> {
  const { body } = await author.send('POST', '/posts/create', { form: { title: 'A title', text: 'A text', ...form } });
  return body;
}

/** Makes two people friends. */
export async function befriend(one: Person, other: Person): Promise<void> {
  await one.send('POST', `/friends/request?to=${other.id}`);
  await other.send('POST', `/friends/accept?from=${one.id}`);
}
