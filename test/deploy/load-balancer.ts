import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { Test } from 'tap';
import { listen } from '../support/listen.js';
import { LOAD_BALANCER_ADDRESS, type Topology } from './topology.js';

/** Starts a load balancer in front of the proxy, which forwards the addresses of its clients. Returns its URL. */
export async function startLoadBalancer(t: Test, { url, certificate }: Topology): Promise<string> {
  const options = { ca: await readFile(certificate), localAddress: LOAD_BALANCER_ADDRESS, family: 4 };
  const server = createServer((incoming, outgoing) => {
    const headers = {
      ...incoming.headers,
      host: new URL(url).host,
      'x-forwarded-for': [incoming.headers['x-forwarded-for'] ?? [], incoming.socket.remoteAddress].flat().join(', '),
      'x-forwarded-proto': 'https',
    };
    const forwarded = request(url + incoming.url, { ...options, method: incoming.method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  return `http://127.0.0.1:${await listen(t, server)}`;
}
