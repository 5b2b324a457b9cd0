import { Agent } from 'node:http';
import { type HttpOptions, sendByHttp } from '../support/http.js';
import type { TestResponse } from '../support/requests.js';

/** Options of a request. */
export interface SendOptions extends Omit<HttpOptions, 'agent' | 'localAddress' | 'timeoutMs'> {
  /** The local address, any of 127.0.0.0/8. */
  from?: string;
  /** Uses a separate connection for this request. */
  newConnection?: boolean;
}

const RESPONSE_TIMEOUT_MS = 30_000;

const agent = new Agent({ keepAlive: true });

/** Sends one request and reads its whole response. */
export const send = (
  url: string,
  method: string,
  path: string,
  { from, newConnection, ...options }: SendOptions = {},
): Promise<TestResponse> =>
  sendByHttp(url, method, path, {
    ...options,
    agent: newConnection ? false : agent,
    localAddress: from,
    timeoutMs: RESPONSE_TIMEOUT_MS,
  });

/** Returns the status of the response, or 0 if there is none. */
export const statusOf = (response: Promise<TestResponse>): Promise<number> =>
  response.then(
    ({ status }) => status,
    () => 0,
  );
