import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { delayThrottledAddresses } from '../../handlers/http/throttled-connections.js';
import { listen } from '../support/listen.js';
import { nextAcceptedSocket, openConnection } from '../support/wire.js';

const WINDOW_LEFT_MS = 60_000;

/** Starts a server. `refuse` counts refused requests of an address; `accept` opens a connection and returns its server side. */
async function startServer(t: Test) {
  const server = createServer((_, response) => response.end());
  const countRefused = delayThrottledAddresses(server);
  const refuse = (address: string, times: number) => {
    for (let count = 0; count < times; count += 1) countRefused(address, WINDOW_LEFT_MS);
  };
  const url = `http://127.0.0.1:${await listen(t, server)}`;
  const accept = () => {
    const accepted = nextAcceptedSocket();
    openConnection(t, url);
    return accepted;
  };
  return { refuse, accept };
}

t.test('new connections of an address, in any notation, are delayed after ten refused requests', async (t) => {
  const { refuse, accept } = await startServer(t);
  refuse('127.0.0.2', 100);
  refuse('127.0.0.1', 9);
  t.equal((await accept()).isPaused(), false);
  refuse('::ffff:127.0.0.1', 1);
  const delayed = await accept();
  t.equal(delayed.isPaused(), true);
  await once(delayed, 'resume');
});

t.test('new connections that would be delayed for more than ten seconds are closed', async (t) => {
  const { refuse, accept } = await startServer(t);
  refuse('127.0.0.1', 10);
  const accepted: Socket[] = [];
  for (let count = 0; count < 12; count += 1) accepted.push(await accept());
  t.equal(accepted[1]?.destroyed, false);
  t.equal(accepted[11]?.destroyed, true);
});
