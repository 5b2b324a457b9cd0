import { createServer, request } from 'node:http';
import type { Test } from 'tap';
import { listen } from './listen.js';

/** Starts a proxy that sends each request to the next one of the services, and returns its URL. */
export async function startBalancer(t: Test, urls: readonly string[]): Promise<string> {
  let count = 0;
  const balancer = createServer((incoming, outgoing) => {
    const { method, url: path, rawHeaders: headers } = incoming;
    count += 1;
    const { hostname, port } = new URL(urls[count % urls.length] ?? '');
    const forwarded = request({ hostname, port, method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.rawHeaders);
      response.on('error', () => outgoing.destroy()).pipe(outgoing);
    });
    // The service may respond and close the connection before it has read the whole body.
    forwarded.on('error', () => outgoing.headersSent || outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return `http://127.0.0.1:${await listen(t, balancer)}`;
}
