import t from 'tap';
import { problemsOf, type TestResponse } from './support/requests.js';
import { startTestService } from './support/service.js';
import { openConnection, type Sent, wire, writeBytes } from './support/wire.js';

const APP = 'https://app.example';
const LIMITS = { RATE_LIMIT_MAX: '3', RATE_LIMIT_STRICT_MAX: '2' };

const service = await startTestService(t, { ...LIMITS, TRUST_PROXY: '127.0.0.0/8,10.0.0.0/8', CORS_ORIGINS: APP });
const send = wire(t, service.url);

/** Sends a request as a proxy does. Each test has addresses of its own. */
const forwarded = (addresses: string, path = '/posts', { headers, ...sent }: Sent = {}, method = 'GET') =>
  send(method, path, { ...sent, headers: { ...headers, 'X-Forwarded-For': addresses } });

const remaining = ({ headers }: TestResponse) => Number(headers.get('x-ratelimit-remaining') ?? Number.NaN);

t.test('X-Forwarded-For counts for nothing if the operator names another proxy', async (t) => {
  const { url } = await startTestService(t, { ...LIMITS, TRUST_PROXY: '10.0.0.0/8,2001:db8::/32' });
  const send = wire(t, url);
  for (const [left, address] of ['192.0.2.1', '192.0.2.2', '10.0.0.1'].entries()) {
    const answer = await send('GET', '/posts', { headers: { 'X-Forwarded-For': address } });
    t.equal(remaining(answer), 2 - left);
  }
});

t.test('behind a proxy that the operator trusts every client has buckets of its own', async (t) => {
  for (const left of [2, 1, 0]) t.equal(remaining(await forwarded('192.0.2.1')), left);
  t.equal((await forwarded('192.0.2.1')).status, 429);
  t.equal((await forwarded('192.0.2.2')).status, 401, 'a stranger does not exhaust it');
  t.equal(
    (await forwarded('198.51.100.7, 192.0.2.1')).status,
    429,
    'what the client itself has written counts for nothing',
  );
  t.equal((await forwarded('192.0.2.1, 10.1.2.3')).status, 429, 'a second proxy that is trusted is passed over');
  t.equal((await forwarded('::ffff:192.0.2.1')).status, 429, 'the same address, written for IPv6');
  t.equal((await forwarded('192.0.2.1:4711')).status, 429, 'and with a port');
  for (const [index, address] of ['2001:db8::1', '[2001:db8::1]', '[2001:db8::2]:4711'].entries())
    t.equal(remaining(await forwarded(address)), 2 - index, address);
  t.equal(remaining(await send('GET', '/posts')), 2, 'without the header it is the proxy that asks');
});

t.test('a URL that cannot be decoded counts for the client that has sent it', async (t) => {
  const first = await forwarded('203.0.113.1', '/%ff');
  t.equal(first.status, 400);
  t.same(problemsOf(first), ['path.']);
  t.equal(remaining(first), 2);
  t.equal(remaining(await forwarded('203.0.113.1')), 1);
  t.equal(remaining(await forwarded('203.0.113.1', '/%ff')), 0);
  t.equal((await forwarded('203.0.113.1', '/%ff')).status, 429);
  t.equal(remaining(await forwarded('203.0.113.2', '/%ff')), 2);
});

t.test('IPv6 counts by network: a client has a /64, and not its neighbour’s', async (t) => {
  t.equal(remaining(await forwarded('2001:db8:1:2::1')), 2);
  t.equal(remaining(await forwarded('2001:db8:1:2:ffff:ffff:ffff:ffff')), 1);
  t.equal(remaining(await forwarded('2001:0DB8:0001:0002::abcd')), 0);
  t.equal((await forwarded('2001:db8:1:2:3::4')).status, 429);
  t.equal((await forwarded('2001:db8:1:3::1')).status, 401);
});

t.test('nobody pushes a counter out with many addresses', async (t) => {
  for (const left of [2, 1, 0]) t.equal(remaining(await forwarded('203.0.113.9')), left);
  const others = Array.from({ length: 6000 }, (_, n) => `198.18.${n >> 8}.${n & 255}`);
  // As many at a time as one connection may pipeline.
  for (let next = 0; next < others.length; next += 30) {
    const heads = others
      .slice(next, next + 30)
      .map((address) => `GET /nope HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n`);
    const received = await writeBytes(t, service.url, `${heads.join('\r\n')}Connection: close\r\n\r\n`);
    t.equal(received.match(/HTTP\/1\.1 404 /g)?.length, 30);
  }
  t.equal((await forwarded('203.0.113.9')).status, 429);
});

t.test('a 429 closes the connection, and nothing behind it is processed', async (t) => {
  const head = 'GET /nope HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.20\r\n\r\n';
  const received = await writeBytes(t, service.url, head.repeat(30));
  t.equal(received.match(/HTTP\/1\.1 404 /g)?.length, 3);
  t.equal(received.match(/HTTP\/1\.1 429 /g)?.length, 1);
  t.match(received.slice(received.indexOf('HTTP/1.1 429')), /^connection: close\r$/im);
});

t.test('a client that is still sending can read its 429', async (t) => {
  const address = 'X-Forwarded-For: 203.0.113.21\r\n';
  for (const _ of [1, 2, 3]) await forwarded('203.0.113.21');
  const { socket, received, closed } = openConnection(t, service.url);
  socket.write(`POST /posts/create HTTP/1.1\r\nHost: x\r\n${address}Content-Length: 3000000\r\n\r\n`);
  const chunk = 'x'.repeat(500_000);
  for (let sent = 0; sent < 6 && !socket.destroyed; sent += 1) {
    await new Promise((resolve) => socket.write(chunk, resolve));
  }
  socket.write(`GET /nope HTTP/1.1\r\nHost: x\r\n\r\n`);
  await closed;
  t.match(received(), /^HTTP\/1\.1 429 /);
  t.notMatch(received(), /HTTP\/1\.1 404 /, 'what comes after it is not processed');
});

t.test('requests over a limit cause one line in the log for each address and window', async (t) => {
  const from = service.logged().length;
  for (let count = 0; count < 8; count += 1) await forwarded('203.0.113.22');
  const lines = service
    .logged()
    .slice(from)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.same(
    lines.map(({ msg, event, address }) => [msg, event, address]),
    [...[1, 2, 3].map(() => ['request', undefined, undefined]), ['security event', 'throttled', '203.0.113.22']],
  );
});

t.test('a page of an origin in CORS_ORIGINS may read that it has sent too many requests', async (t) => {
  const address = '203.0.113.30';
  for (const _ of [1, 2, 3]) await forwarded(address);
  for (const path of ['/posts', '/nope', '/%ff']) {
    const { status, headers } = await forwarded(address, path, { headers: { Origin: APP } });
    t.same([status, headers.get('access-control-allow-origin')], [429, APP], path);
    t.match(headers.get('access-control-expose-headers'), /\bRetry-After\b/);
  }
});

t.test('what pages of other sites have a browser send counts in a bucket of its own', async (t) => {
  const standing = async (method: string, path: string, headers: Record<string, string>) => {
    const answer = await forwarded('203.0.113.31', path, { headers }, method);
    return [answer.status, Number(answer.headers.get('x-ratelimit-limit')), remaining(answer)];
  };
  const image = { 'Sec-Fetch-Site': 'cross-site', Cookie: 'fc_session_token=stale' };
  const form = { 'Content-Type': 'text/plain', Origin: 'https://evil.example' };
  t.same(await standing('GET', '/posts', image), [401, 3, 2]);
  t.same(await standing('POST', '/auth/login', form), [403, 3, 1]);
  t.same(await standing('POST', '/auth/register', form), [403, 3, 0]);
  t.same(await standing('POST', '/auth/login', form), [429, 3, 0]);
  t.same(await standing('GET', '/nope', image), [429, 3, 0]);

  t.same(await standing('GET', '/posts', {}), [401, 3, 2], 'the general bucket is untouched');
  t.same(await standing('POST', '/auth/login', {}), [400, 2, 1], 'and so is the strict one');
  t.same(await standing('POST', '/auth/login', { Origin: APP }), [400, 2, 0], 'a trusted page counts as its visitor');
  const bearer = { ...image, Authorization: 'Bearer stale' };
  t.same(await standing('GET', '/posts', bearer), [401, 3, 1], 'the header shows that no page has sent it');
});
