import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextIteration } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { listen } from '../support/listen.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

/* If the proxy did not inject these faults as described, tests that expect no error could pass without testing anything. */

/** Starts an echo server, and returns a proxy to it. */
async function startEcho(t: Test) {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  return startProxy(t, `echo://127.0.0.1:${await listen(t, server)}`);
}

/** Opens a connection, which is closed when the test ends. */
function open(t: Test, url: string) {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  return {
    socket,
    async exchange(text: string) {
      socket.write(text);
      const [response] = await once(socket, 'data');
      return String(response);
    },
  };
}

t.test('a silenced connection stays silent, and new ones are forwarded', async (t) => {
  const proxy = await startEcho(t);
  const early = open(t, proxy.url);
  await early.exchange('hello');
  await proxy.setFault('silence');
  const late = open(t, proxy.url);
  await once(late.socket, 'connect');
  for (const { socket } of [early, late]) {
    socket.on('data', () => t.fail('a silent connection received bytes'));
    socket.write('hello');
  }
  await proxy.setFault('none');
  const another = open(t, proxy.url);
  for (const text of ['one', 'two', 'three']) t.equal(await another.exchange(text), text);
  for (const { socket } of [early, late]) t.ok(socket.writable, 'still open');
});

t.test('waits for its port while another program uses it', async (t) => {
  const proxy = await startEcho(t);
  await proxy.setFault('refuse');
  const other = createServer().listen(Number(new URL(proxy.url).port), '127.0.0.1');
  await once(other, 'listening');
  const listening = proxy.setFault('none');
  await nextIteration();
  other.close();
  await listening;
  t.equal(await open(t, proxy.url).exchange('hello'), 'hello');
});

t.test('loses responses, and closes the connections that lost them when it is healed', async (t) => {
  const proxy = await startEcho(t);
  const early = open(t, proxy.url);
  await early.exchange('hello');
  await proxy.setFault('lose-responses');
  early.socket.on('data', () => t.fail('the response must be lost'));
  early.socket.write('lost');
  await once(proxy.connections[0]?.server as Socket, 'data');
  const closed = once(early.socket, 'close');
  await proxy.heal();
  await closed;
  t.equal(await open(t, proxy.url).exchange('again'), 'again');
});

t.test('delays responses without reordering them', async (t) => {
  const proxy = await startEcho(t);
  const { socket } = open(t, proxy.url);
  await proxy.setFault({ latencyMs: 50 });
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes;
  });
  const sentAt = performance.now();
  socket.write('one');
  await until(() => proxy.connections[0]?.receivedBytes === 3);
  await proxy.setFault('none');
  socket.write('two');
  while (received.length < 6) await once(socket, 'data');
  t.equal(received, 'onetwo');
  // A timer may fire up to a millisecond early.
  t.ok(performance.now() - sentAt >= 49);
});
