import { once } from 'node:events';
import http, { type Agent, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { encodeBody, type ReceivedResponse, readHeaders } from '../../scripts/contract-test/client/index.js';

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
