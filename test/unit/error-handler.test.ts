import { Readable } from 'node:stream';
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import t, { type Test } from 'tap';
import {
  ClientDisconnectedError,
  OverloadedError,
  type StoreName,
  StoreUnavailableError,
} from '../../db/support/errors.js';
import { createLogger } from '../../handlers/config/logger.js';
import { overloaded } from '../../handlers/errors.js';
import { createErrorHandler } from '../../handlers/http/error-handler.js';
import { parseLog } from '../support/processes.js';

const SILENT_REQUESTS = new LogController({ disableRequestLogging: true });

t.test('an error response has no headers of the response that it replaces', async (t) => {
  const server = Fastify();
  server.setErrorHandler(createErrorHandler());
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

/** Starts a server whose routes, named after stores, fail because of their store. Returns its log. */
function createFailingServer(t: Test, ...options: Parameters<typeof createErrorHandler>) {
  const lines: string[] = [];
  const log = createLogger({ logLevel: 'info', logFormat: 'json' }, { write: (line) => void lines.push(line) });
  const server = Fastify({ loggerInstance: log as FastifyBaseLogger, logController: SILENT_REQUESTS });
  server.setErrorHandler(createErrorHandler(...options));
  for (const store of ['postgres', 'graph'] satisfies StoreName[]) {
    server.get(`/${store}`, async () => {
      throw new StoreUnavailableError(store, { cause: new Error('connection lost') });
    });
  }
  t.teardown(() => server.close());
  return { server, entries: () => parseLog(lines.join('')) };
}

t.test('only the first error of each store in an outage is logged with its stack', async (t) => {
  const { server, entries } = createFailingServer(t);
  for (const path of ['/postgres', '/postgres', '/graph', '/postgres', '/graph']) await server.inject(path);
  t.match(
    entries().map(({ err }) => err),
    Array.from({ length: 5 }, () => ({ type: 'StoreUnavailableError', message: / store /, cause: 'connection lost' })),
  );
  t.same(
    entries().map(({ err }) => err.stack !== undefined),
    [true, false, true, false, false],
  );

  const later = createFailingServer(t, undefined, 0);
  for (const path of ['/postgres', '/postgres']) await later.server.inject(path);
  t.same(
    later.entries().map(({ err }) => err.stack !== undefined),
    [true, true],
    'also in the next outage',
  );
});

t.test('an outage because of a full disk is named in the response and the log', async (t) => {
  const [embedded, onServer] = [createFailingServer(t, () => true), createFailingServer(t)];
  onServer.server.get('/full', async () => {
    throw new StoreUnavailableError('postgres', { cause: Object.assign(new Error(), { code: '53100' }) });
  });
  for (const [{ server, entries }, path] of [[embedded, '/postgres'] as const, [onServer, '/full'] as const]) {
    const response = await server.inject(path);
    t.equal(response.statusCode, 503);
    t.match(response.json(), { code: 'store_unavailable', message: /^The disk of the service is full/ });
    t.match(entries(), [{ msg: 'disk full' }]);
  }
});

t.test('neither an overload nor a client that has disconnected is logged', async (t) => {
  for (const [error, status] of [
    [new OverloadedError(), 503],
    [new ClientDisconnectedError(), 499],
  ] as const) {
    const { server, entries } = createFailingServer(t);
    server.get('/', async () => {
      throw error;
    });
    t.equal((await server.inject('/')).statusCode, status);
    t.same(entries(), []);
  }
});
