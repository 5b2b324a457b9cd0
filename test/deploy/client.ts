import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import { Agent } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import { encodeBody } from '../../scripts/contract-test/client/index.js';
import { type HttpOptions, sendByHttp, type TestResponse, toTestResponse } from '../support/http.js';
import type { Topology } from './topology.js';

/** The URL of a proxy, and the path of the certificate to trust. */
type Proxy = Pick<Topology, 'url' | 'certificate'>;

type ProxiedRequest = Pick<HttpOptions, 'token' | 'json' | 'form' | 'headers' | 'signal'>;

export type Send = (method: string, path: string, options?: ProxiedRequest) => Promise<TestResponse>;

/**
 * Returns a function that sends requests through the proxy by HTTP/1.1, and trusts the proxy's certificate. It does not use
 * `fetch`, which can neither trust an additional certificate nor select the local address.
 */
export async function createClient(t: Test, topology: Proxy, localAddress: string): Promise<Send> {
  const ca = await readFile(topology.certificate);
  const agent = new Agent({ ca, localAddress, family: 4, keepAlive: true });
  t.teardown(() => agent.destroy());
  return (method, path, options) => sendByHttp(topology.url, method, path, { agent, ...options });
}

/** Sends one request by HTTP/2, without falling back to HTTP/1.1. */
export async function sendByHttp2(
  topology: Proxy,
  method: string,
  path: string,
  options: Omit<ProxiedRequest, 'headers' | 'signal'> = {},
): Promise<TestResponse> {
  const session = connect(topology.url, { ca: await readFile(topology.certificate) });
  // If the connection fails, its request throws the error.
  session.on('error', () => undefined);
  try {
    const { type, body } = await encodeBody(options);
    const stream = session.request({
      ':method': method,
      ':path': path,
      ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
      ...(type !== undefined && { 'content-type': type }),
    });
    stream.end(body);
    const [{ ':status': status, ...fields }] = (await once(stream, 'response')) as [
      IncomingHttpHeaders & IncomingHttpStatusHeader,
    ];
    const headers = new Headers();
    for (const [name, value] of Object.entries(fields))
      for (const item of [value ?? []].flat()) headers.append(name, String(item));
    return toTestResponse(Number(status), headers, await buffer(stream));
  } finally {
    session.close();
  }
}
