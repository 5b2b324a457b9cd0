import t from 'tap';
import { createSender, type HttpOptions, type TestResponse } from './support/http.js';
import { parseLog } from './support/processes.js';
import { scrape } from './support/prometheus.js';
import { startTestService } from './support/service.js';
import { until } from './support/until.js';
import { openConnection, writeBytes } from './support/wire.js';

const APP = 'https://app.example';

const service = await startTestService(t, {
  RATE_LIMIT_MAX: '3',
  RATE_LIMIT_STRICT_MAX: '2',
  TRUST_PROXY: '127.0.0.1,10.0.0.0/8',
  CORS_ORIGINS: APP,
});
const send = createSender(t, service.url);

/** Another service, with windows of a second. */
const brief = await startTestService(t, { RATE_LIMIT_MAX: '1', RATE_LIMIT_WINDOW: '1', TRUST_PROXY: '127.0.0.1' });
const sendToBrief = createSender(t, brief.url);

/** Sends a request as a proxy does. Each test uses different addresses. */
const forwarded = (addresses: string, path = '/posts', { headers, ...sent }: HttpOptions = {}, method = 'GET') =>
  send(method, path, { ...sent, headers: { ...headers, 'X-Forwarded-For': addresses } });

const remaining = ({ headers }: TestResponse) => Number(headers.get('x-ratelimit-remaining') ?? Number.NaN);

t.test('X-Forwarded-For is ignored unless it comes from a trusted proxy', async (t) => {
  for (const [index, address] of ['192.0.2.1', '192.0.2.2', '10.0.0.1'].entries()) {
    t.equal(remaining(await forwarded(address, '/posts', { localAddress: '127.0.0.2' })), 2 - index);
  }
});

t.test('behind a trusted proxy every client has its own buckets', async (t) => {
  for (const expected of [2, 1, 0]) t.equal(remaining(await forwarded('192.0.2.1')), expected);
  t.equal((await forwarded('192.0.2.1')).status, 429);
  t.equal((await forwarded('192.0.2.2')).status, 401, 'another client is not affected');
  t.equal((await forwarded('198.51.100.7, 192.0.2.1')).status, 429, 'entries that the client has added are ignored');
  t.equal((await forwarded('192.0.2.1, 10.1.2.3')).status, 429, 'a second trusted proxy is skipped');
  t.equal((await forwarded('::ffff:192.0.2.1')).status, 429, 'the same address, mapped to IPv6');
  t.equal((await forwarded('192.0.2.1:4711')).status, 429, 'the same address with a port');
  for (const [index, address] of ['2001:db8::1', '[2001:db8::1]', '[2001:db8::2]:4711'].entries())
    t.equal(remaining(await forwarded(address)), 2 - index, address);
  t.equal(remaining(await send('GET', '/posts')), 2, 'without the header the proxy is the client');
});

t.test('requests from many addresses do not evict a counter', async (t) => {
  for (const expected of [2, 1, 0]) t.equal(remaining(await forwarded('203.0.113.9')), expected);
  const others = Array.from({ length: 6000 }, (_, n) => `198.18.${n >> 8}.${n & 255}`);
  // A connection may not pipeline many more requests.
  for (let next = 0; next < others.length; next += 30) {
    const heads = others
      .slice(next, next + 30)
      .map((address) => `GET /nope HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n`);
    const received = await writeBytes(t, service.url, `${heads.join('\r\n')}Connection: close\r\n\r\n`);
    t.equal(received.match(/HTTP\/1\.1 404 /g)?.length, 30);
  }
  t.equal((await forwarded('203.0.113.9')).status, 429);
});

t.test('a 429 closes the connection, and pipelined requests after it are not processed', async (t) => {
  const head = 'GET /nope HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.20\r\n\r\n';
  const received = await writeBytes(t, service.url, head.repeat(30));
  t.equal(received.match(/HTTP\/1\.1 404 /g)?.length, 3);
  t.equal(received.match(/HTTP\/1\.1 429 /g)?.length, 1);
  t.match(received.slice(received.indexOf('HTTP/1.1 429')), /^connection: close\r$/im);
});

t.test('a client can read a 429 while it is still sending', async (t) => {
  const address = 'X-Forwarded-For: 203.0.113.21\r\n';
  for (let count = 0; count < 3; count += 1) await forwarded('203.0.113.21');
  const { socket, received, closed } = openConnection(t, service.url);
  socket.write(`POST /posts/create HTTP/1.1\r\nHost: x\r\n${address}Content-Length: 3000000\r\n\r\n`);
  const chunk = 'x'.repeat(500_000);
  for (let sent = 0; sent < 6 && !socket.destroyed; sent += 1) {
    await new Promise((resolve) => socket.write(chunk, resolve));
  }
  socket.write(`GET /nope HTTP/1.1\r\nHost: x\r\n\r\n`);
  await closed;
  t.match(received(), /^HTTP\/1\.1 429 /);
  t.notMatch(received(), /HTTP\/1\.1 404 /, 'later requests are not processed');
});

t.test('after the first 429 of an address, its requests read no store', async (t) => {
  const { token } = await service.createUser();
  const sendPosts = () => forwarded('203.0.113.41', '/posts', { token });
  const countReads = async () => {
    const exposition = await scrape(service.opsUrl);
    return ['session', 'newestPosts'].map((batch) => exposition.value('batch_size_count', { batch }));
  };
  for (let count = 0; count < 3; count += 1) t.equal((await sendPosts()).status, 200);
  t.equal((await sendPosts()).status, 429);
  const before = await countReads();
  t.equal((await sendPosts()).status, 429);
  t.same(await countReads(), before);
});

t.test('requests over a limit are logged once per window, with the address of the client', async (t) => {
  const from = service.logged().length;
  for (let count = 0; count < 8; count += 1) await forwarded('203.0.113.22');
  const entries = parseLog(service.logged().slice(from));
  t.same(
    entries.map(({ msg, event, address }) => [msg, event, address]),
    [...[1, 2, 3].map(() => ['request', undefined, undefined]), ['security event', 'throttled', '203.0.113.22']],
  );
  const json = { email: 'nobody@people.example', password: 'wrong' };
  await forwarded('203.0.113.40', '/auth/login', { json }, 'POST');
  t.match(parseLog(service.logged()).at(-2), { event: 'login_failed', address: '203.0.113.40' });
  const headers = { 'X-Forwarded-For': '203.0.113.23' };
  const statusOf = async () => (await sendToBrief('GET', '/posts', { headers })).status;
  const countEvents = () =>
    parseLog(brief.logged()).filter(({ event, address }) => event === 'throttled' && address === '203.0.113.23').length;
  for (const status of [429, 401]) await until(async () => (await statusOf()) === status);
  t.equal(countEvents(), 1);
  await until(async () => (await statusOf()) === 429 && countEvents() === 2);
});

t.test('pages of allowed origins may read a 429', async (t) => {
  const address = '203.0.113.30';
  for (let count = 0; count < 3; count += 1) await forwarded(address);
  for (const path of ['/posts', '/nope', '/%ff']) {
    const { status, headers } = await forwarded(address, path, { headers: { Origin: APP } });
    t.same([status, headers.get('access-control-allow-origin')], [429, APP], path);
    t.match(headers.get('access-control-expose-headers'), /\bRetry-After\b/);
  }
});

t.test('a request from a page of a trusted origin counts in the bucket of its visitor', async (t) => {
  for (const [Origin, left] of [
    [APP, 1],
    ['https://evil.example', 2],
    [APP, 0],
  ] as const) {
    t.equal(remaining(await forwarded('203.0.113.31', '/auth/login', { headers: { Origin } }, 'POST')), left);
  }
});
