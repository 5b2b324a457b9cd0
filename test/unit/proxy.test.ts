import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { startProxy } from '../support/proxy.js';

/** A server that repeats what it is sent, and a proxy before it. */
async function echo(t: Test) {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return startProxy(t, `echo://name:secret@127.0.0.1:${(server.address() as AddressInfo).port}/7?x=y`);
}

function dial(t: Test, url: string) {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  return {
    socket,
    async says(text: string) {
      socket.write(text);
      const [answer] = await once(socket, 'data');
      return String(answer);
    },
    /** How the connection ends: an error's code, or nothing when it simply ends. */
    ended: new Promise((resolve) => {
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      socket.once('close', () => resolve(undefined));
    }),
  };
}

t.test('it passes bytes both ways, and keeps the rest of the URL', async (t) => {
  const proxy = await echo(t);
  t.match(proxy.url, /^echo:\/\/name:secret@127\.0\.0\.1:\d+\/7\?x=y$/);
  t.equal(await dial(t, proxy.url).says('hello'), 'hello');
});

t.test('it refuses, resets, and passes again at the same address', async (t) => {
  const proxy = await echo(t);
  for (const [mode, before, now] of [
    ['refuse', undefined, 'ECONNREFUSED'],
    ['reset', 'ECONNRESET', 'ECONNRESET'],
  ] as const) {
    const early = dial(t, proxy.url);
    await early.says('hello');
    await proxy.switch(mode);
    t.equal(await early.ended, before, `${mode}: a connection from before`);
    t.equal(await dial(t, proxy.url).ended, now, `${mode}: a new one`);
    await proxy.switch('pass');
    t.equal(await dial(t, proxy.url).says('again'), 'again');
  }
});

t.test('a connection that has gone silent stays so, and new ones pass again', async (t) => {
  const proxy = await echo(t);
  const early = dial(t, proxy.url);
  await early.says('hello');
  await proxy.switch('silent');
  const late = dial(t, proxy.url);
  await once(late.socket, 'connect');
  for (const { socket } of [early, late]) {
    socket.on('data', () => t.fail('something came back'));
    socket.write('is anybody there?');
  }
  await proxy.switch('pass');
  const another = dial(t, proxy.url);
  for (const text of ['one', 'two', 'three']) t.equal(await another.says(text), text);
  for (const { socket } of [early, late]) t.ok(socket.writable, 'it is open still');
});
