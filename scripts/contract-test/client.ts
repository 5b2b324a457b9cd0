import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { headViolations, violations } from './conformance.js';
import { operationFor } from './document.js';
import type { CheckedResponse, ReceivedResponse, RequestOptions } from './exchange.js';
import type { Bucket, Limits } from './limits.js';

export type Send = (request: string, sent?: RequestOptions) => Promise<CheckedResponse>;

/** Something about every answer, told once it is there. */
export interface Observer {
  /** What an answer had that the document does not declare for its operation, or lacked that it does. */
  answered(operation: string, answer: CheckedResponse, breaches: string[]): void;
  /** An answer with what was asked for it, whole. */
  exchanged(method: string, path: string, sent: RequestOptions, answer: CheckedResponse): void;
}

export interface Counts {
  strict: number;
  general: number;
}

export interface Client {
  send: Send;
  readonly counts: Counts;
  /** The scheme, host and port that requests go to. */
  readonly origin: string;
  /** The address that the contract's paths follow, without a slash at its end. */
  readonly baseUrl: string;
  /** Resolves when no request is in flight. A rule that fails may leave some behind, which may create accounts. */
  idle(): Promise<void>;
  close(): void;
}

/** No answer came at all. */
export class NoResponseError extends Error {}

/** How often one request is asked again because of the rate limit, or because a store did not answer. */
const MAX_RETRIES_BY_STATUS: Record<number, number> = { 429: 20, 503: 3 };

/** For how many seconds a 503 is waited for at most, whatever it says. */
const MAX_PAUSE_SECONDS = 10;

interface Settings {
  baseUrl: URL;
  /** For one answer, in milliseconds. */
  timeout: number;
  limits: Limits;
  observer: Observer;
  /** Prints a line when an answer has to be waited for. */
  say(line: string): void;
  /** From then on nothing more is asked. What is under way is waited for: it may make an account. */
  signal: AbortSignal;
  /** Breaks off what is under way. */
  hurry: AbortSignal;
}

/** Asks over plain HTTP/1.1, where no library stands between a rule and the bytes it wants to send. */
export function createClient({ baseUrl, timeout, limits, observer, say, signal, hurry }: Settings): Client {
  const { Agent, request } = baseUrl.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const counts: Counts = { strict: 0, general: 0 };
  const prefix = baseUrl.pathname.replace(/\/$/, '');

  async function once(method: string, path: string, headers: Record<string, string>, body: Uint8Array | undefined) {
    return new Promise<ReceivedResponse>((resolve, reject) => {
      const fail = (error: Error) =>
        reject(new NoResponseError(`no answer to ${method} ${path}: ${error.message || error.name}`));
      const { hostname, port } = baseUrl;
      const host = hostname.replace(/^\[|\]$/g, '');
      const outgoing = request({ agent, host, port, method, path, headers, signal: hurry }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('error', fail);
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks);
          resolve({
            status: incoming.statusCode ?? 0,
            headers: headersOf(incoming),
            body: parsed(incoming, bytes),
            bytes,
          });
        });
      });
      outgoing.setTimeout(timeout, () => outgoing.destroy(new Error(`nothing for ${timeout / 1000} s`)));
      outgoing.on('error', fail);
      outgoing.end(body);
    });
  }

  /** A 503 breaks no rule, and says when to try again, which is safe. */
  async function recover(line: string, headers: Headers): Promise<void> {
    const seconds = Math.min(Number(headers.get('retry-after') ?? 1) || 1, MAX_PAUSE_SECONDS);
    say(`503 to ${line.split('?', 1)[0]}: asking again in ${seconds} s.`);
    await sleep(seconds * 1000, undefined, { signal });
  }

  const inFlight = new Set<Promise<CheckedResponse>>();

  async function send(line: string, sent: RequestOptions): Promise<CheckedResponse> {
    const [method = '', target = ''] = line.split(' ');
    // A link in a response may have the prefix or lack it.
    const path = prefix !== '' && target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : target;
    const pathname = path.split('?', 1)[0] ?? '';
    const operation = operationFor(method === 'HEAD' ? 'GET' : method, pathname);
    const bucket: Bucket = (method !== 'HEAD' && operation?.rateLimit) || 'general';
    const { type, body } = await bodyOf(sent);
    const headers = {
      ...(sent.token !== undefined && { Authorization: `Bearer ${sent.token}` }),
      ...(type !== undefined && { 'Content-Type': type }),
      ...(body !== undefined && !isChunked(sent) && { 'Content-Length': String(body.byteLength) }),
      ...sent.headers,
    };
    const waits = !sent.takesRefusal;
    for (let attempt = 1; ; attempt++) {
      if (waits) await limits.takeTurn(bucket);
      signal.throwIfAborted();
      counts[bucket] += 1;
      const received = await once(method, `${prefix}${path}`, headers, body).finally(() => {
        if (waits) limits.endTurn(bucket);
      });
      limits.note(bucket, received.headers);
      if (received.status === 429) limits.exhaust(bucket, received.headers);
      if (waits && attempt <= (MAX_RETRIES_BY_STATUS[received.status] ?? 0)) {
        if (received.status === 503) await recover(line, received.headers);
        continue;
      }
      const url = `${baseUrl.origin}${prefix}${path}`;
      const answer = { ...received, exchange: { method, url, sent, received } };
      if (operation) {
        const judge = method === 'HEAD' ? headViolations : violations;
        observer.answered(operation.id, answer, judge(operation, answer));
      }
      observer.exchanged(method, path, sent, answer);
      return answer;
    }
  }

  return {
    counts,
    origin: baseUrl.origin,
    baseUrl: `${baseUrl.origin}${prefix}`,
    close: () => agent.destroy(),

    async idle() {
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
    },

    send(line, sent = {}) {
      const answer = send(line, sent).finally(() => inFlight.delete(answer));
      inFlight.add(answer);
      return answer;
    },
  };
}

const isChunked = ({ headers = {} }: RequestOptions) => 'Transfer-Encoding' in headers;

function headersOf({ rawHeaders }: http.IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}

/** A JSON body that is none stays text, which no schema takes for an object. */
function parsed({ headers }: http.IncomingMessage, bytes: Buffer): unknown {
  if (bytes.length === 0 || !headers['content-type']?.startsWith('application/json')) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return bytes.toString();
  }
}

async function bodyOf({ json, form, body }: RequestOptions): Promise<{ type?: string; body?: Uint8Array }> {
  if (json !== undefined) return { type: 'application/json', body: Buffer.from(JSON.stringify(json)) };
  if (body !== undefined) return { body: Buffer.from(body) };
  if (form === undefined) return {};
  const encoded = new Response(form instanceof FormData ? form : formOf(form));
  return {
    type: encoded.headers.get('content-type') ?? '',
    body: new Uint8Array(await encoded.arrayBuffer()),
  };
}

function formOf(fields: Record<string, string | File>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}
