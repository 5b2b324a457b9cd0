import { Agent } from 'node:http';
import { type HttpOptions, sendByHttp } from '../support/http.js';
import type { TestResponse } from '../support/requests.js';

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
