import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as nextIteration } from 'node:timers/promises';
import t from 'tap';
import { limitPipelining } from '../../handlers/http/pipelining.js';
import { listen } from '../support/listen.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** The size of one read of Node.js. */
const READ_BYTES = 64 * 1024;

t.test('stops reading from a connection that pipelines too many requests', async (t) => {
  let parsed = 0;
  let first: ServerResponse | undefined;
  const listener = limitPipelining((_, response) => {
    if (first) response.end();
    first ??= response;
  });
  const server = createServer((request, response) => {
    parsed += 1;
    listener(request, response);
  });
  const client = connect(await listen(t, server), '127.0.0.1').resume();
  client.on('error', () => undefined);
  client.write(REQUEST.repeat(100_000));
  // While the first response is pending, all requests that have been read are parsed.
  while (parsed === 0) await nextIteration();
  for (let count = 0; count < 100; count += 1) await nextIteration();
  first?.end();
  await once(client, 'close');
  t.ok(parsed < (2 * READ_BYTES) / REQUEST.length, `${parsed} requests parsed`);
});
