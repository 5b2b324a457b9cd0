import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { listen } from '../support/listen.js';
import { startProxy } from '../support/proxy.js';

/** Starts an echo server, and returns a proxy to it. */
async function startEcho(t: Test) {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  return startProxy(t, `echo://name:secret@127.0.0.1:${await listen(t, server)}/7?x=y`);
}

/** Opens a connection, which is closed when the test ends. */
function dial(t: Test, url: string) {
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
    /** The error code with which the connection ends, or undefined if it is closed normally. */
    ended: new Promise((resolve) => {
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      socket.once('close', () => resolve(undefined));
    }),
  };
}

t.test('forwards bytes in both directions, and keeps the rest of the URL', async (t) => {
  const proxy = await startEcho(t);
  t.match(proxy.url, /^echo:\/\/name:secret@127\.0\.0\.1:\d+\/7\?x=y$/);
  t.equal(await dial(t, proxy.url).exchange('hello'), 'hello');
});

t.test('refuses, resets and forwards again at the same address', async (t) => {
  const proxy = await startEcho(t);
  for (const [mode, before, now] of [
    ['refuse', undefined, 'ECONNREFUSED'],
    ['reset', 'ECONNRESET', 'ECONNRESET'],
  ] as const) {
    const early = dial(t, proxy.url);
    await early.exchange('hello');
    await proxy.setMode(mode);
    t.equal(await early.ended, before, `${mode}: an existing connection`);
    t.equal(await dial(t, proxy.url).ended, now, `${mode}: a new connection`);
    await proxy.setMode('pass');
    t.equal(await dial(t, proxy.url).exchange('again'), 'again');
  }
});

t.test('a silenced connection stays silent, and new ones are forwarded', async (t) => {
  const proxy = await startEcho(t);
  const early = dial(t, proxy.url);
  await early.exchange('hello');
  await proxy.setMode('silent');
  const late = dial(t, proxy.url);
  await once(late.socket, 'connect');
  for (const { socket } of [early, late]) {
    socket.on('data', () => t.fail('a silent connection received bytes'));
    socket.write('hello');
  }
  await proxy.setMode('pass');
  const another = dial(t, proxy.url);
  for (const text of ['one', 'two', 'three']) t.equal(await another.exchange(text), text);
  for (const { socket } of [early, late]) t.ok(socket.writable, 'still open');
});
