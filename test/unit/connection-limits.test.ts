import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { limitConnections, readConnectionLimits } from '../../handlers/http/connections.js';
import { limitPipelining } from '../../handlers/http/pipelining.js';
import { listen } from '../support/listen.js';

const HEAD = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** Starts a server that responds to `/` and never responds to other requests. */
async function serve(
  t: Test,
  limits: { max: number; maxPerAddress: number },
  { trustProxy = [] as string[], onConnection = (_socket: Socket): void => undefined } = {},
) {
  const listener = limitPipelining(({ url }, response) => {
    if (url === '/') response.end();
  });
  const server = createServer(listener);
  server.on('connection', onConnection);
  const connections = limitConnections(server, limits, trustProxy);
  const port = await listen(t, server);

  /**
   * Opens a connection from a loopback address, and sends `bytes`. Waits until the server has accepted the connection and, if
   * `bytes` is a complete request, has read the request.
   */
  async function open(localAddress = '127.0.0.1', bytes = ''): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    const accepted = once(server, 'connection');
    const request = bytes.endsWith('\r\n\r\n') ? once(server, 'request') : undefined;
    if (bytes) socket.write(bytes);
    await accepted;
    await request;
    return socket;
  }
  return { open, connections };
}

/** Sends a request, and waits for the response. */
async function sendRequest(socket: Socket): Promise<void> {
  socket.write(HEAD);
  await once(socket, 'data');
}

const untilClosed = (socket: Socket) => socket.destroyed || once(socket.resume(), 'close');

t.test('a new connection from any address replaces an idle one that was not used recently', async (t) => {
  const { open, connections } = await serve(t, { max: 3, maxPerAddress: 3 });
  const [used, idle, incomplete] = [await open(), await open('127.0.0.2'), await open('127.0.0.3', 'GET / HTTP')];
  await sendRequest(used);
  const fourth = await open('127.0.0.4');
  await untilClosed(idle);
  await open('127.0.0.5');
  await untilClosed(incomplete);
  t.equal(connections.open.size, 3);
  t.same(connections.counts, { evicted: 2, refused: 0 });
  await sendRequest(used);
  await sendRequest(fourth);
});

t.test('a new connection is refused if all open ones have requests in progress', async (t) => {
  const { open, connections } = await serve(t, { max: 2, maxPerAddress: 2 });
  const slow = HEAD.replace('/', '/slow');
  const busy = [await open('127.0.0.1', slow), await open('127.0.0.1', slow)];
  await untilClosed(await open());
  t.same(connections.counts, { evicted: 0, refused: 1 });
  t.notOk(busy.some(({ destroyed }) => destroyed));
});

t.test('an address has its own limit, so its idle connections do not close those of others', async (t) => {
  const { open, connections } = await serve(t, { max: 4, maxPerAddress: 2 });
  const honest = await open('127.0.0.2');
  for (let count = 0; count < 10; count += 1) await open('127.0.0.1');
  t.equal(connections.open.size, 3);
  await sendRequest(honest);
});

t.test('the limit per address does not apply to trusted proxies', async (t) => {
  const { open, connections } = await serve(t, { max: 4, maxPerAddress: 1 }, { trustProxy: ['127.0.0.0/8'] });
  for (let count = 0; count < 6; count += 1) await open('127.0.0.1');
  t.equal(connections.open.size, 4);
});

t.test('a closed connection no longer counts', async (t) => {
  const { open, connections } = await serve(t, { max: 1, maxPerAddress: 1 });
  const slow = await open('127.0.0.1', HEAD.replace('/', '/slow'));
  const [serverSocket] = [...connections.open] as [Socket];
  slow.destroy();
  await once(serverSocket, 'close');
  await sendRequest(await open());
  t.same(connections.counts, { evicted: 0, refused: 0 });
});

t.test('a connection that an earlier listener has refused does not take the place of another', async (t) => {
  let refuses = false;
  const onConnection = (socket: Socket) => {
    // Node caches the address when it is first read. The limiter therefore still knows the address of the destroyed socket.
    if (socket.remoteAddress && refuses) socket.destroy();
  };
  const { open, connections } = await serve(t, { max: 1, maxPerAddress: 1 }, { onConnection });
  const honest = await open();
  refuses = true;
  await untilClosed(await open());
  t.same(connections.counts, { evicted: 0, refused: 0 });
  t.equal(connections.open.size, 1);
  t.notOk(honest.destroyed);
});

const needsLinux = { skip: process.platform !== 'linux' && 'only Linux shows the limit of open files' };

t.test(
  'connections may use three quarters of the limit of open files, and an address a quarter',
  needsLinux,
  async (t) => {
    const module = new URL('../../handlers/http/connections.js', import.meta.url);
    const code = `
    const { readConnectionLimits } = await import('${module}');
    console.log(JSON.stringify(await readConnectionLimits()));`;
    const command = 'ulimit -n 400 && exec "$0" --input-type=module --eval "$1"';
    const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, code]);
    t.same(JSON.parse(stdout), { max: 300, maxPerAddress: 75 });
    t.ok((await readConnectionLimits()).max <= 10_000, 'and not more than 10,000');
  },
);
