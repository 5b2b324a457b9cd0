import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { violations } from './conformance.js';
import { operationFor } from './document.js';
import {
  type CheckedResponse,
  encodeBody,
  type ReceivedResponse,
  type RequestContent,
  readHeaders,
} from './exchange.js';
import { type Bucket, createLimits } from './limits.js';

/** Sends a request such as `GET /posts/7`. */
export type Send = (request: string, content?: RequestContent) => Promise<CheckedResponse>;

/** Receives the final response to each request, after retries. */
export interface ExchangeObserver {
  /** Called for every response of an operation, with its violations of the document. */
  onResponse(operation: string, response: CheckedResponse, violations: string[]): void;
  /** Called for every response, with its request. */
  onExchange(method: string, path: string, sent: RequestContent, response: CheckedResponse): void;
}

/** The number of requests in each rate limit bucket, including retries. */
export type RequestCounts = Record<Bucket, number>;

export type ContractClient = ReturnType<typeof createClient>;

/** Thrown if the service does not respond to a request. */
export class NoResponseError extends Error {
  readonly code = 'no_response';
}

/** The maximum number of retries after a 429 (rate limit) and after a 503 (unavailable store). */
const MAX_RETRIES_BY_STATUS: Record<number, number> = { 429: 20, 503: 6 };

/** The longest wait before a retry after a 503, regardless of its `Retry-After`. */
const MAX_RETRY_AFTER_SECONDS = 10;

/** The longest time without data from the service. */
const TIMEOUT_MS = 30_000;

export interface ClientOptions {
  /** The address of the service. Its path, if any, is the prefix of the contract's paths. */
  baseUrl: URL;
  observer: ExchangeObserver;
  /** Prints a line when a request has to wait. */
  log(line: string): void;
  /** Makes `send` refuse further requests. Requests in flight are completed, because they may create accounts. */
  signal: AbortSignal;
}

/**
 * Creates an HTTP/1.1 client with `node:http`. It sends headers and bodies exactly as a rule specifies them.
 *
 * It waits for rate limits, retries 503 and 429 (except `too_many_failed_passwords`), and checks every response against the
 * document.
 */
export function createClient({ baseUrl, observer, log, signal }: ClientOptions) {
  const { Agent, request } = baseUrl.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const limits = createLimits(log);
  const counts: RequestCounts = { strict: 0, general: 0 };
  const prefix = baseUrl.pathname.replace(/\/$/, '');

  async function sendOnce(
    method: string,
    path: string,
    headers: Record<string, string> | string[],
    body: Uint8Array | undefined,
  ): Promise<ReceivedResponse> {
    const { hostname, port } = baseUrl;
    const host = hostname.replace(/^\[|\]$/g, '');
    const outgoing = request({ agent, host, port, method, path, headers });
    outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error(`no data for ${TIMEOUT_MS / 1000} s`)));
    // Without a listener, an error after the start of the response would end this process. It also makes `buffer` reject.
    outgoing.on('error', () => undefined);
    outgoing.end(body);
    try {
      const [incoming] = (await once(outgoing, 'response')) as [http.IncomingMessage];
      const bytes = await buffer(incoming);
      const status = incoming.statusCode ?? 0;
      return { status, headers: readHeaders(incoming), body: parseBody(incoming, bytes), bytes };
    } catch (error) {
      const { code, message, name } = error as NodeJS.ErrnoException;
      const reason =
        code === 'EPROTO' ? 'the server does not use TLS, try http:// instead of https://' : message || name;
      throw new NoResponseError(`no response to ${method} ${path}: ${reason}`);
    }
  }

  /** Waits for the `Retry-After` of a 503. A request that got a 503 may still have taken effect. */
  async function waitFor503(line: string, headers: Headers, signal: AbortSignal): Promise<void> {
    const seconds = Math.min(Number(headers.get('retry-after') ?? 1) || 1, MAX_RETRY_AFTER_SECONDS);
    log(`503 for ${line.split('?', 1)[0]}: retrying in ${seconds} s.`);
    await sleep(seconds * 1000, undefined, { signal });
  }

  const inFlight = new Set<Promise<CheckedResponse>>();

  async function sendWithRetries(line: string, content: RequestContent, signal: AbortSignal): Promise<CheckedResponse> {
    const [method = '', target = ''] = line.split(' ');
    // A link from a response may include the prefix.
    const path = prefix !== '' && target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : target;
    const pathname = path.split('?', 1)[0] ?? '';
    const operation = operationFor(method === 'HEAD' ? 'GET' : method, pathname);
    const bucket: Bucket = (method !== 'HEAD' && operation?.rateLimit) || 'general';
    const { type, body } = await encodeBody(content);
    const singleHeaders = {
      ...(content.token !== undefined && { Authorization: `Bearer ${content.token}` }),
      ...(type !== undefined && { 'Content-Type': type }),
      ...(body !== undefined && !isChunked(content) && { 'Content-Length': String(body.byteLength) }),
      ...content.headers,
    };
    const headers = content.repeated ? withRepeated(singleHeaders, baseUrl.host, content.repeated) : singleHeaders;
    const waits = !content.immediate;
    for (let attempt = 1; ; attempt++) {
      if (waits) await limits.acquire(bucket, signal);
      signal.throwIfAborted();
      counts[bucket] += 1;
      const received = await sendOnce(method, `${prefix}${path}`, headers, body).finally(() => {
        if (waits) limits.release(bucket);
      });
      limits.update(bucket, received.headers);
      // This limit applies to one email address only. Its Retry-After is up to an hour, and other requests are still accepted.
      const tooManyFailedPasswords = received.body?.code === 'too_many_failed_passwords';
      if (received.status === 429 && !tooManyFailedPasswords) limits.markExhausted(bucket, received.headers);
      if (waits && !tooManyFailedPasswords && attempt <= (MAX_RETRIES_BY_STATUS[received.status] ?? 0)) {
        if (received.status === 503) await waitFor503(line, received.headers, signal);
        continue;
      }
      const url = `${baseUrl.origin}${prefix}${path}`;
      const response = { ...received, exchange: { method, url, sent: content, received } };
      if (operation) {
        const found = violations(operation, response, { hasBody: method !== 'HEAD' });
        observer.onResponse(operation.id, response, found);
      }
      observer.onExchange(method, path, content, response);
      return response;
    }
  }

  const sendUntil =
    (signal: AbortSignal): Send =>
    (line, content = {}) => {
      const response = sendWithRetries(line, content, signal).finally(() => inFlight.delete(response));
      inFlight.add(response);
      return response;
    };

  return {
    counts,
    limits,
    /** The scheme, host and port that requests go to. */
    origin: baseUrl.origin,
    /** The URL that the contract's paths are appended to, without a trailing slash. */
    baseUrl: `${baseUrl.origin}${prefix}`,
    close: () => agent.destroy(),

    /** Resolves when no request is in flight. A failed rule may leave requests in flight that create accounts. */
    async idle() {
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
    },

    send: sendUntil(signal),
    /** Sends a request even after the interrupt. */
    sendAfterInterrupt: sendUntil(new AbortController().signal),
  };
}

/**
 * Returns headers as a flat list of names and values, which `node:http` sends unchanged. The names of the repeated header
 * differ in case, to detect a service that does not treat them as the same header.
 */
function withRepeated(headers: Record<string, string>, host: string, [name, ...values]: [string, ...string[]]) {
  const single = name === 'Host' ? headers : { Host: host, ...headers };
  const repeated = values.map((value, index) => [index === 0 ? name : name.toUpperCase(), value]);
  return [...Object.entries(single), ...repeated].flat();
}

const isChunked = ({ headers = {} }: RequestContent) => 'Transfer-Encoding' in headers;

/** Returns the parsed JSON body, or undefined. Malformed JSON is returned as text, which violates every response schema. */
function parseBody({ headers }: http.IncomingMessage, bytes: Buffer): unknown {
  if (bytes.length === 0 || !headers['content-type']?.startsWith('application/json')) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return bytes.toString();
  }
}
