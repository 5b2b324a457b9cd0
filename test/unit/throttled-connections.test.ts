import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { delayThrottledAddresses } from '../../handlers/http/throttled-connections.js';
import { listen } from '../support/listen.js';

/** Starts a server. Returns a function that connects to it and returns the server's side of the connection. */
async function startServer(t: Test) {
  const server = createServer((_, response) => response.end());
  const countRefused = delayThrottledAddresses(server);
  const port = await listen(t, server);
  const accept = async () => {
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const client = connect(port, '127.0.0.1');
    t.teardown(() => client.destroy());
    return accepted;
  };
  return { countRefused, accept };
}

const WINDOW_LEFT_MS = 60_000;

t.test(
  'a new connection is not read immediately if its address has been refused ten times in its window',
  async (t) => {
    const { countRefused, accept } = await startServer(t);
    for (let count = 0; count < 9; count += 1) countRefused('127.0.0.1', WINDOW_LEFT_MS);
    t.equal((await accept()).isPaused(), false);
    countRefused('127.0.0.1', WINDOW_LEFT_MS);
    t.equal((await accept()).isPaused(), true);
  },
);

t.test('refusals of one address do not delay others', async (t) => {
  const { countRefused, accept } = await startServer(t);
  for (let count = 0; count < 100; count += 1) countRefused('127.0.0.2', WINDOW_LEFT_MS);
  t.equal((await accept()).isPaused(), false);
});

t.test('refusals count for all addresses and notations with the same key', async (t) => {
  const { countRefused, accept } = await startServer(t);
  for (let count = 0; count < 10; count += 1) countRefused('::ffff:127.0.0.1', WINDOW_LEFT_MS);
  t.equal((await accept()).isPaused(), true);
});

t.test('a delayed connection is read eventually', async (t) => {
  const { countRefused, accept } = await startServer(t);
  for (let count = 0; count < 10; count += 1) countRefused('127.0.0.1', WINDOW_LEFT_MS);
  const socket = await accept();
  await new Promise((resolve) => socket.once('resume', resolve));
  t.pass('it is read');
});

t.test('connections of a flooder that would wait for more than ten seconds are closed', async (t) => {
  const { countRefused, accept } = await startServer(t);
  for (let count = 0; count < 10; count += 1) countRefused('127.0.0.1', WINDOW_LEFT_MS);
  const accepted: Socket[] = [];
  for (let count = 0; count < 12; count += 1) accepted.push(await accept());
  t.equal(accepted[1]?.destroyed, false);
  t.equal(accepted[11]?.destroyed, true);
});
