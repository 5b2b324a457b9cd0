import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { encodeBody } from '../../scripts/contract-test/exchange.js';

/** Options of a request. */
export interface SendOptions {
  /** The local address, any of 127.0.0.0/8. */
  from?: string;
  token?: string;
  json?: unknown;
  form?: Record<string, string | Blob>;
  /** A raw body; its type is set in `headers`. */
  body?: string;
  headers?: Record<string, string>;
  /** Aborts the request and destroys its connection. */
  signal?: AbortSignal;
  /** Uses a separate connection for this request. */
  newConnection?: boolean;
}

export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: callers know the type of their response.
  body: any;
}

const RESPONSE_TIMEOUT_MS = 30_000;

const agent = new Agent({ keepAlive: true });

/** Sends one request and reads its whole response. */
export async function send(url: string, method: string, path: string, options: SendOptions = {}): Promise<Received> {
  const { type, body } = await encodeBody(options);
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent: options.newConnection ? false : agent,
        hostname,
        port,
        method,
        path,
        localAddress: options.from,
        timeout: RESPONSE_TIMEOUT_MS,
        ...(options.signal && { signal: options.signal }),
        headers: {
          ...(options.token !== undefined && { Authorization: `Bearer ${options.token}` }),
          ...(type !== undefined && { 'Content-Type': type }),
          ...(body !== undefined && { 'Content-Length': String(body.byteLength) }),
          ...options.headers,
        },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const isJson = incoming.headers['content-type']?.startsWith('application/json') && bytes.length > 0;
          const { statusCode = 0, headers } = incoming;
          resolve({ status: statusCode, headers, bytes, body: isJson ? JSON.parse(bytes.toString()) : undefined });
        });
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no response in ${RESPONSE_TIMEOUT_MS} ms`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Returns the status of the response, or 0 if there is none. */
export const statusOf = (response: Promise<Received>): Promise<number> =>
  response.then(
    ({ status }) => status,
    () => 0,
  );
