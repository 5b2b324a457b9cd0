import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import type { Test } from 'tap';
import type { components } from '../generated/types.js';
import { readConfig } from '../handlers/http/config.js';
import { createLogger } from '../handlers/http/logger.js';
import { type Service, startService } from '../handlers/service.js';
import { breaches } from '../scripts/contract-test/conformance.js';
import { operationFor } from '../scripts/contract-test/document.js';
import { freshStores, onOwnGraph } from './stores.js';

/** Fits no rule but what a test breaks on purpose. */
export const PASSWORD = 'Quiet-Harbour-27!';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it has asked for, and the contract check that it is so.
  body: any;
  bytes: Buffer;
}

export interface Ask {
  token?: string;
  json?: unknown;
  form?: Record<string, string | Blob | { blob: Blob; name: string }>;
  headers?: Record<string, string>;
  body?: string | Uint8Array | FormData | ReadableStream;
}

export interface Person {
  id: number;
  name: string;
  username: string;
  email: string;
  token: string;
  /** A request with this person's token. */
  ask(method: string, path: string, ask?: Ask): Promise<Answer>;
}

export interface TestService extends Service {
  /** The variables by which another service serves on the same stores. */
  environment: NodeJS.ProcessEnv;
  /** All that was logged so far. */
  logged(): string;
  ask(method: string, path: string, ask?: Ask): Promise<Answer>;
  /** Registers somebody new and logs them in. */
  person(overrides?: { name?: string; private?: boolean }): Promise<Person>;
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
  const ask = asker(t, service.url);
  const login = async (email: string) =>
    (await ask('POST', '/auth/login', { json: { email, password: PASSWORD } })).body.token as string;

  return {
    ...service,
    stop,
    environment: variables,
    logged: () => log,
    ask,
    login,
    async person({ name = 'Some Body', private: isPrivate = false } = {}) {
      const username = `u${randomBytes(6).toString('hex')}`;
      const email = `${username}@people.example`;
      const { body } = await ask('POST', '/auth/register', { json: { name, username, email, password: PASSWORD } });
      const token = await login(email);
      const person: Person = {
        id: body.id,
        name,
        username,
        email,
        token,
        ask: (method, path, more) => ask(method, path, { token, ...more }),
      };
      if (isPrivate) await person.ask('PUT', '/profiles/me', { form: { private: 'true' } });
      return person;
    },
  };
}

/** Asks by HTTP, and holds every answer of an operation against the contract. */
export function asker(t: Test, url: string) {
  return async (method: string, path: string, { token, json, form, headers = {}, body }: Ask = {}): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: json !== undefined ? JSON.stringify(json) : form ? formData(form) : (body ?? null),
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      body: isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined,
      bytes,
    };
    const operation = operationFor(method, new URL(url + path).pathname);
    if (operation) {
      const found = breaches(operation, answer);
      if (found.length > 0) t.fail(`${method} ${path} breaks the contract`, { found, body: answer.body });
    }
    return answer;
  };
}

/** What a 400 objects to, as `in.field`, in the order in which it is listed. */
export const problemsOf = ({ body }: Answer): string[] =>
  (body.errors ?? []).map((problem: { in: string; field: string }) => `${problem.in}.${problem.field}`);

/** The session cookie that an answer sets: its value, and its attributes by their names in lower case. */
export function cookieOf({ headers }: Answer): Record<string, string> | undefined {
  const [cookie, ...others] = headers.getSetCookie().map((line) => line.split('; '));
  const [pair, ...attributes] = cookie ?? [];
  if (!pair || others.length > 0 || !pair.startsWith('fc_session_token=')) return undefined;
  return Object.fromEntries([
    ['value', pair.slice('fc_session_token='.length)],
    ...attributes.map((attribute) => {
      const [name = '', value = ''] = attribute.split('=');
      return [name.toLowerCase(), value];
    }),
  ]);
}

/** As `cookieOf` reads the cookie when an answer clears it. */
export const CLEARED_COOKIE = { value: '', 'max-age': '0', path: '/', httponly: '', samesite: 'Lax' };

/** Publishes a post, and answers it. */
export async function writePost(
  author: Pick<Person, 'ask'>,
  form: Ask['form'] = {},
): Promise<components['schemas']['Post']> {
  const { body } = await author.ask('POST', '/posts/create', { form: { title: 'A title', text: 'A text', ...form } });
  return body;
}

/** Makes two people friends. */
export async function befriend(one: Person, other: Person): Promise<void> {
  await one.ask('POST', `/friends/request?to=${other.id}`);
  await other.ask('POST', `/friends/accept?from=${one.id}`);
}

function formData(fields: NonNullable<Ask['form']>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value);
    else if (value instanceof Blob) form.append(name, value, 'picture');
    else form.append(name, value.blob, value.name);
  }
  return form;
}
