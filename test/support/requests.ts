import { EventEmitter } from 'node:events';
import type { Test } from 'tap';
import { type Cookie, parseCookie } from 'undici';
import { maskSecrets, operationFor, shorten, violations } from '../../scripts/contract-test/client/index.js';
import { type HttpOptions, sendByHttp, type TestResponse } from './http.js';

/** A test, or another object with a method `fail`. */
type FailureReporter = Pick<Test, 'fail'>;

/**
 * Returns a function that sends requests, and checks the responses of operations against the contract. If an assertion of the
 * test or of a subtest fails, the latest requests and responses are printed.
 */
export function createSender(t: FailureReporter, url: string) {
  const record = recorderOf(t);
  return async (method: string, path: string, options: HttpOptions = {}): Promise<TestResponse> => {
    const response = await sendByHttp(url, method, path, options);
    record(() => formatExchange(method, path, options, response));
    const operation = operationFor(method, path.split('?')[0] ?? path);
    const found = operation ? violations(operation, response) : [];
    if (found.length > 0) t.fail(`${method} ${path} breaks the contract`, { found, body: response.body });
    return response;
  };
}

const MAX_PRINTED_EXCHANGES = 5;
const MAX_PRINTED_CHARACTERS = 400;

const recorders = new WeakMap<FailureReporter, (describe: () => string) => void>();

/** Returns the function that records the exchanges of a test. The latest ones are printed when an assertion fails. */
function recorderOf(t: FailureReporter): (describe: () => string) => void {
  const existing = recorders.get(t);
  if (existing) return existing;
  const latest: (() => string)[] = [];
  onFailure(t, (assertion) => {
    const exchanges = latest.splice(0).map((describe) => describe());
    if (exchanges.length > 0)
      console.error(`Requests before the failed assertion “${assertion}”:\n${exchanges.join('\n')}`);
  });
  const record = (describe: () => string) => {
    latest.push(describe);
    if (latest.length > MAX_PRINTED_EXCHANGES) latest.shift();
  };
  recorders.set(t, record);
  return record;
}

/** Calls the listener when an assertion of the test or of a subtest fails. */
function onFailure(t: FailureReporter, listener: (assertion: string) => void): void {
  if (!(t instanceof EventEmitter)) return;
  // tap does not document this event. It emits `assert` only at the next assertion, which would include later requests.
  t.on('res', ({ ok, message }) => ok || listener(message));
  t.on('subtestAdd', (subtest) => onFailure(subtest, listener));
}

/** Returns a request and its response as text, without tokens or passwords. */
function formatExchange(method: string, path: string, sent: HttpOptions, { status, body, bytes }: TestResponse) {
  const { headers, json, form } = sent;
  const text = typeof sent.body === 'string' ? maskSecrets(sent.body) : undefined;
  const [request, response] = [{ headers, json, form, text }, body ?? `(${bytes.length} bytes)`].map((value) =>
    shorten(maskSecrets(JSON.stringify(value)), MAX_PRINTED_CHARACTERS),
  );
  return `  ${method} ${path} ${request}\n    → ${status} ${response}`;
}

/** Returns the session cookie that a response sets. Undefined unless it is the only cookie. */
export function sessionCookieOf({ headers }: TestResponse): Cookie | undefined {
  const [cookie, ...others] = headers.getSetCookie().map(parseCookie);
  return cookie?.name === 'fc_session_token' && others.length === 0 ? cookie : undefined;
}

/** The result of `sessionCookieOf` for a response that clears the cookie. */
export const CLEARED_COOKIE: Cookie = {
  name: 'fc_session_token',
  value: '',
  maxAge: 0,
  path: '/',
  httpOnly: true,
  sameSite: 'Lax',
};
