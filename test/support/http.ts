import { EventEmitter, once } from 'node:events';
import http, { type Agent, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import { type Cookie, parseCookie } from 'undici';
import {
  encodeBody,
  maskSecrets,
  operationFor,
  type ReceivedResponse,
  readHeaders,
  shorten,
  violations,
} from '../../scripts/contract-test/client/index.js';

export type TestResponse = ReceivedResponse;

export interface HttpOptions {
  token?: string | undefined;
  json?: unknown;
  form?: Record<string, string | Blob>;
  headers?: OutgoingHttpHeaders;
  /** A raw body. Its type must be in `headers`. */
  body?: string | Uint8Array;
  /** `false` sends the request on a new connection of its own. */
  agent?: Agent | false;
  localAddress?: string | undefined;
  /** The longest time without data. */
  timeoutMs?: number;
  /** Aborts the request and destroys its connection. */
  signal?: AbortSignal;
}

/**
 * Sends a request by `node:http`, which unlike fetch supports any method, header, path and local address, a body with GET, and
 * chunked bodies. A body is sent with Content-Length, unless the headers set Transfer-Encoding.
 */
export async function sendByHttp(
  url: string,
  method: string,
  path: string,
  options: HttpOptions = {},
): Promise<TestResponse> {
  const { token, headers = {}, agent, localAddress, timeoutMs, signal } = options;
  const { type, body } = await encodeBody(options);
  const { request } = url.startsWith('https:') ? https : http;
  const outgoing = request(url, {
    method,
    path,
    agent,
    localAddress,
    signal,
    timeout: timeoutMs,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(type !== undefined && { 'Content-Type': type }),
      ...(body !== undefined && !('Transfer-Encoding' in headers) && { 'Content-Length': body.byteLength }),
      ...headers,
    },
  });
  // Otherwise the timeout of Node's agent, five seconds, would apply.
  if (timeoutMs !== undefined) outgoing.on('timeout', () => outgoing.destroy(new Error(`no data in ${timeoutMs} ms`)));
  // Without a listener, an error after the head of the response would be uncaught. Reading the response throws it.
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { statusCode: status = 0 } = incoming;
  const [received, bytes] = [readHeaders(incoming), await buffer(incoming)];
  // A compressed body is not decoded.
  return received.has('content-encoding')
    ? { status, headers: received, bytes, body: undefined }
    : toTestResponse(status, received, bytes);
}

/** Returns a response whose body is parsed if it is JSON. */
export function toTestResponse(status: number, headers: Headers, bytes: Buffer): TestResponse {
  const isJson = headers.get('content-type')?.startsWith('application/json');
  return { status, headers, bytes, body: isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined };
}

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

/** Returns the path of the next page of a list, or undefined if the response is that of the last page. */
export const nextPagePath = (headers: Headers): string | undefined =>
  /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
