import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { createSlowReaderSweep } from '../../handlers/http/slow-readers.js';
import { listen } from '../support/listen.js';

const LIMITS = { graceMs: 10_000, minBytesPerSecond: 1000 };

/** Creates a fake connection with settable counts of written and unsent bytes. */
function createFakeConnection() {
  const socket = {
    bytesWritten: 0,
    writableLength: 0,
    destroyed: false,
    destroy() {
      socket.destroyed = true;
    },
  };
  return socket;
}

t.test('a connection is closed once it is slower than the minimum rate after the grace period', async (t) => {
  const socket = createFakeConnection();
  const sweep = createSlowReaderSweep([socket as unknown as Socket], LIMITS);
  Object.assign(socket, { bytesWritten: 1_000_000, writableLength: 900_000 });
  sweep(0);
  sweep(10_000);
  t.notOk(socket.destroyed, 'no minimum rate applies within the grace period');
  Object.assign(socket, { writableLength: 898_000 });
  sweep(12_000);
  t.notOk(socket.destroyed, '2000 bytes in the 2 seconds after the grace period');
  sweep(12_001);
  t.ok(socket.destroyed);
});

t.test('an idle connection without unsent bytes stays open', async (t) => {
  const socket = createFakeConnection();
  const sweep = createSlowReaderSweep([socket as unknown as Socket], LIMITS);
  Object.assign(socket, { bytesWritten: 1000, writableLength: 1000 });
  sweep(0);
  Object.assign(socket, { writableLength: 0 });
  sweep(9000);
  sweep(1_000_000);
  Object.assign(socket, { bytesWritten: 2000, writableLength: 1000 });
  sweep(1_009_000);
  sweep(1_019_000);
  t.notOk(socket.destroyed, 'the next response has a grace period of its own');
});

t.test('the connection of a client that does not read is closed', async (t) => {
  const server = createServer((socket) => socket.on('error', () => undefined).write(Buffer.alloc(64 * 1024 * 1024)));
  const port = await listen(t, server);
  const accepted = once(server, 'connection');
  const client = connect(port, '127.0.0.1').pause();
  t.teardown(() => client.destroy());
  const [socket] = (await accepted) as [Socket];
  const sweep = createSlowReaderSweep([socket], LIMITS);
  sweep(0);
  sweep(10_001);
  t.ok(socket.destroyed);
});
