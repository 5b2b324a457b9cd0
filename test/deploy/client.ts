import { readFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { Agent } from 'node:https';
import type { Test } from 'tap';
import { encodeBody } from '../../scripts/contract-test/exchange.js';
import { type HttpOptions, sendByHttp } from '../support/http.js';
import { type TestResponse, toTestResponse } from '../support/requests.js';
import type { Topology } from './topology.js';

export type ProxiedRequest = Pick<HttpOptions, 'token' | 'json' | 'form' | 'headers'>;

export type Send = (method: string, path: string, options?: ProxiedRequest) => Promise<TestResponse>;

/**
 * Returns a function that sends requests through the proxy by HTTP/1.1 and trusts its certificate. `fetch` can do neither this
 * nor select the local address.
 */
export async function createClient(t: Test, topology: Topology, localAddress = '127.0.0.1'): Promise<Send> {
  const ca = await readFile(topology.certificate);
  const agent = new Agent({ ca, localAddress, family: 4, keepAlive: true });
  t.teardown(() => agent.destroy());
  return (method, path, options) => sendByHttp(topology.url, method, path, { agent, ...options });
}

/** Sends one request by HTTP/2, which the client requires. */
export async function sendByHttp2(
  topology: Topology,
  method: string,
  path: string,
  options: ProxiedRequest = {},
): Promise<TestResponse> {
  const session = connect(topology.url, { ca: await readFile(topology.certificate) });
  const { type, body } = await encodeBody(options);
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject);
      const stream = session.request({
        ':method': method,
        ':path': path,
        ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
        ...(type !== undefined && { 'content-type': type }),
      });
      const headers = new Headers();
      const chunks: Buffer[] = [];
      let status = 0;
      stream.on('error', reject);
      stream.on('response', ({ ':status': received, ...fields }) => {
        status = received ?? 0;
        for (const [name, value] of Object.entries(fields))
          for (const item of [value ?? []].flat()) headers.append(name, String(item));
      });
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => resolve(toTestResponse(status, headers, Buffer.concat(chunks))));
      stream.end(body);
    });
  } finally {
    session.close();
  }
}
