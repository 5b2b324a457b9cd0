import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import { answerClientError } from '../handlers/http/client-errors.js';
import { boundReading } from '../handlers/http/drain.js';
import { quiet } from './stores.js';

/** A server that ends connections as the service does, and a client that leaves its own half open. */
async function connected(t: Test, handler: http.RequestListener) {
  const like = { log: quiet } as unknown as FastifyInstance;
  const server = http.createServer(handler);
  server.on('clientError', (error, socket) => answerClientError.call(like, error, socket as Socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const arrived = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => undefined);
  t.teardown(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const [socket] = (await arrived) as [Socket];
  let received = '';
  const gone = once(socket, 'close');
  return { client, gone, received: () => received, read: () => client.on('data', (chunk) => (received += chunk)) };
}

t.test('a client that keeps its end open after a refusal is cut off', async (t) => {
  const { client, gone, received, read } = await connected(t, () => t.fail('is no request'));
  read();
  client.write('GARBAGE\r\n\r\n');
  await gone;
  t.match(received(), /^HTTP\/1.1 400 /);
});

t.test('a client that reads no further is cut off', async (t) => {
  let left = false;
  const endless = (_: http.IncomingMessage, response: http.ServerResponse) => {
    response.once('close', () => {
      left = true;
    });
    boundReading(response, 100);
    response.end(Buffer.alloc(64 * 1024 * 1024));
  };
  const { client, gone } = await connected(t, endless);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await gone;
  t.ok(left);
});
