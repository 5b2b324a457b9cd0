import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { expectConformance, type TestResponse, toTestResponse } from './requests.js';

export interface WireOptions {
  token?: string | undefined;
  headers?: OutgoingHttpHeaders;
  /** Sent with Content-Length, unless the headers set Transfer-Encoding. */
  body?: string | Uint8Array;
}

type WireSender = (method: string, path: string, sent?: WireOptions) => Promise<TestResponse>;

/**
 * Returns a function that sends requests by `node:http`, which unlike fetch supports any method, header and path, a
 * body with GET, and chunked bodies. Responses of operations are checked against the contract.
 */
export function createWireSender(t: Test, url: string): WireSender {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  t.teardown(() => agent.destroy());
  return async (method, path, { token, headers = {}, body } = {}) => {
    const clientRequest = request(url, { agent, method, path });
    if (token !== undefined) clientRequest.setHeader('Authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) clientRequest.setHeader(name, value ?? '');
    if (body !== undefined && !clientRequest.hasHeader('Transfer-Encoding')) {
      clientRequest.setHeader('Content-Length', Buffer.byteLength(body));
    }
    clientRequest.end(body);
    const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
    const result = await readResponse(response);
    expectConformance(t, method, path, result);
    return result;
  };
}

async function readResponse(response: IncomingMessage): Promise<TestResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const status = response.statusCode ?? 0;
  return headers.has('content-encoding')
    ? { status, headers, bytes, body: undefined }
    : toTestResponse(status, headers, bytes);
}

interface Connection {
  socket: Socket;
  /** The bytes received so far, as Latin-1. */
  received(): string;
  /** Waits until the received bytes match. The test's timeout is the limit. */
  until(pattern: RegExp): Promise<void>;
  /** Resolves when the connection is closed, for any reason. */
  closed: Promise<void>;
}

/** Opens a connection for bytes that no HTTP client would send. It is closed when the test ends. */
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

/** Returns the server's socket of the next connection that a server in this process accepts. */
export const nextAcceptedSocket = () =>
  new Promise<Socket>((resolve) => {
    const listener = (message: unknown) => {
      unsubscribe('net.server.socket', listener);
      resolve((message as { socket: Socket }).socket);
    };
    subscribe('net.server.socket', listener);
  });

/** Sends bytes over a new connection, and returns the bytes received until it is closed, as Latin-1. */
export async function writeBytes(t: Test, url: string, bytes: string): Promise<string> {
  const { socket, received, closed } = openConnection(t, url);
  socket.write(bytes);
  await closed;
  return received();
}
