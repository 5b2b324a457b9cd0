import { Readable } from 'node:stream';
import Fastify from 'fastify';
import t from 'tap';
import { overloaded } from '../../handlers/errors.js';
import { respondToError } from '../../handlers/http/error-handler.js';

t.test('an error response has no headers of the response that it replaces', async (t) => {
  const server = Fastify();
  server.setErrorHandler(respondToError);
  const headers = {
    ETag: '"image"',
    Link: '</posts?offset=20>; rel="next"',
    'Cache-Control': 'public, max-age=31536000, immutable',
    'Content-Encoding': 'br',
    'Content-Length': '4711',
  };
  server.get('/rejected', async (_, reply) => {
    reply.headers(headers);
    throw overloaded();
  });
  server.get('/failed-stream', async (_, reply) => {
    reply.headers(headers);
    return new Readable({
      read() {
        this.destroy(new Error('the file cannot be read'));
      },
    });
  });
  t.teardown(() => server.close());
  for (const [path, status] of [
    ['/rejected', 503],
    ['/failed-stream', 500],
  ] as const) {
    const response = await server.inject(path);
    t.equal(response.statusCode, status);
    t.match(response.headers['content-type'], /^application\/json/);
    t.equal(response.headers['cache-control'], 'no-store');
    t.equal(Number(response.headers['content-length']), response.rawPayload.length);
    for (const name of ['etag', 'link', 'content-encoding']) t.notOk(name in response.headers, `${path}: no ${name}`);
  }
});
