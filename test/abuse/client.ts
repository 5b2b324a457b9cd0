import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type HttpOptions, sendByHttp, type TestResponse } from '../support/http.js';
import type { Target } from './attack.js';

/*
 * Every client has its own addresses in 127.0.0.0/8, so that default rate limits apply as on a real network. On Linux a
 * client can use any of them.
 */

/** The local address of attackers that use only one. */
export const ATTACKER = '127.2.0.1';

/** Returns a function that returns addresses of 127.`network`.0.0/16, each of them `usesPerAddress` times in a row. */
export function rotateAddresses(network: number, usesPerAddress: number): () => string {
  let count = 0;
  return () => {
    const index = Math.floor(count++ / usesPerAddress) + 1;
    return `127.${network}.${(index >> 8) & 255}.${index & 255}`;
  };
}

const RESPONSE_TIMEOUT_MS = 30_000;

const agent = new Agent({ keepAlive: true });

/** Sends one request over a persistent connection, unless the options name an agent, and reads its whole response. */
export const send = (url: string, method: string, path: string, options?: HttpOptions): Promise<TestResponse> =>
  sendByHttp(url, method, path, { agent, timeoutMs: RESPONSE_TIMEOUT_MS, ...options });

/** Returns the status of the response, or 0 if there is none. */
export const statusOf = (response: Promise<TestResponse>): Promise<number> =>
  response.then(
    ({ status }) => status,
    () => 0,
  );

/** Opens a raw connection from the attacker's address. It is destroyed when the attack ends, and errors only close it. */
export function openSocket({ service, signal }: Target): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: ATTACKER, signal });
  socket.on('error', () => undefined);
  return socket;
}

export const rawGet = (path: string, headers: Record<string, string> = {}): string => {
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
};
