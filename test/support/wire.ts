import { once } from 'node:events';
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { violations } from '../../scripts/contract-test/conformance.js';
import { operationFor } from '../../scripts/contract-test/document.js';
import type { TestResponse } from './requests.js';

export interface Sent {
  token?: string | undefined;
  headers?: OutgoingHttpHeaders;
  /** Framed by Content-Length, unless the headers say otherwise. */
  body?: string | Uint8Array;
}

export type Wire = (method: string, path: string, sent?: Sent) => Promise<TestResponse>;

/**
 * Asks by node:http, which sends what fetch will not: every method and header, a path as it stands, a body with GET, a body
 * in chunks. Answers of operations are held against the contract here too.
 */
export function wire(t: Test, url: string): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  t.teardown(() => agent.destroy());
  return async (method, path, { token, headers = {}, body } = {}) => {
    const asking = request(url, { agent, method, path });
    if (token !== undefined) asking.setHeader('Authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) asking.setHeader(name, value ?? '');
    if (body !== undefined && !asking.hasHeader('Transfer-Encoding')) {
      asking.setHeader('Content-Length', Buffer.byteLength(body));
    }
    asking.end(body);
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    const answer = await read(response);
    const operation = operationFor(method, path.split('?')[0] ?? path);
    const found = operation ? violations(operation, answer) : [];
    if (found.length > 0) t.fail(`${method} ${path} breaks the contract`, { found, body: answer.body });
    return answer;
  };
}

async function read(response: IncomingMessage): Promise<TestResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const isJson = headers.get('content-type')?.startsWith('application/json') && !headers.has('content-encoding');
  const body = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined;
  return { status: response.statusCode ?? 0, headers, bytes, body };
}

export interface Connection {
  socket: Socket;
  /** All that has come back so far. */
  received(): string;
  /** Until what has come back fits; the test's own time-out is the limit. */
  until(pattern: RegExp): Promise<void>;
  /** Settles when the connection is over, in whatever way. */
  closed: Promise<void>;
}

/** A connection for bytes that no HTTP client would write. It ends with the test. */
export function openConnection(t: Test, url: string): Connection {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  t.teardown(() => socket.destroy());
  return {
    socket,
    received: () => received,
    async until(pattern) {
      while (!pattern.test(received)) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    closed,
  };
}

/** Writes these very bytes to a connection of its own, and answers all that comes back until it is closed. */
export async function writeBytes(t: Test, url: string, bytes: string): Promise<string> {
  const { socket, received, closed } = openConnection(t, url);
  socket.write(bytes);
  await closed;
  return received();
}
