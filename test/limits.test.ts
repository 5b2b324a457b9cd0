import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { contract } from '../scripts/contract-test/document.js';
import { type Answer, PASSWORD, problemsOf, startTestService } from './harness.js';
import { type Sent, wire, writeBytes } from './wire.js';

/** Where an answer says that its caller stands. */
const standing = ({ headers }: Answer) => ({
  limit: Number(headers.get('x-ratelimit-limit') ?? Number.NaN),
  remaining: Number(headers.get('x-ratelimit-remaining') ?? Number.NaN),
  reset: Number(headers.get('x-ratelimit-reset') ?? Number.NaN),
});
const remaining = (answer: Answer) => standing(answer).remaining;

/** A service with limits so small that a test can reach them, and a way to ask it as somebody behind a proxy. */
async function limited(t: Test, general: number, strict: number, environment: Record<string, string> = {}) {
  const service = await startTestService(t, {
    RATE_LIMIT_MAX: String(general),
    RATE_LIMIT_STRICT_MAX: String(strict),
    ...environment,
  });
  const send = wire(t, service.url);
  const forwarded = (addresses: string, path = '/posts') =>
    send('GET', path, { headers: { 'X-Forwarded-For': addresses } });
  return { service, send, forwarded };
}

t.test('all that is not strict shares one bucket, and every refusal counts', async (t) => {
  const { send } = await limited(t, 11, 100, { RATE_LIMIT_WINDOW: '600' });
  const asked: [status: number, method: string, path: string, sent?: Sent][] = [
    [401, 'GET', '/posts'],
    [401, 'HEAD', '/posts'],
    [401, 'POST', '/friends/request?to=1', { headers: { 'Content-Type': 'text/plain' }, body: 'x' }],
    [401, 'PUT', '/profiles/me', { token: 'stale' }],
    [404, 'GET', '/nope'],
    [405, 'PATCH', '/posts'],
    [405, 'GET', '/auth/login'],
    [400, 'GET', '/%ff'],
    [204, 'OPTIONS', '/posts'],
    [204, 'OPTIONS', '/posts', { headers: { 'Access-Control-Request-Method': 'PUT' } }],
    [404, 'OPTIONS', '/nope'],
  ];
  for (const [index, [status, ...request]] of asked.entries()) {
    const answer = await send(...request);
    t.equal(answer.status, status, `${request[0]} ${request[1]}`);
    const { limit, remaining, reset } = standing(answer);
    t.same([limit, remaining], [11, 10 - index]);
    t.ok(Number.isInteger(reset) && reset > 0 && reset <= 600);
  }
  for (const [, ...request] of asked) {
    const answer = await send(...request);
    t.equal(answer.status, 429, `${request[0]} ${request[1]}`);
    const { limit, remaining, reset } = standing(answer);
    t.same([limit, remaining], [11, 0]);
    t.equal(answer.headers.get('retry-after'), String(reset));
    t.ok(reset > 0 && reset <= 600);
    t.ok(answer.headers.has('x-request-id'));
    if (request[0] !== 'HEAD') t.same(Object.keys(answer.body), ['message']);
  }

  t.equal((await send('POST', '/auth/login')).status, 400, 'the strict bucket is another');
  for (const path of ['/docs', '/docs/explorer.js', '/openapi.yaml', '/openapi.json']) {
    const answer = await send('GET', path);
    t.equal(answer.status, 200, `${path} counts in none`);
    t.notOk([...answer.headers.keys()].some((name) => name.startsWith('x-ratelimit')));
    t.equal((await send('OPTIONS', path)).status, 204);
  }
  const preflight = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' };
  const answer = await send('OPTIONS', '/profiles/me', { headers: preflight });
  t.equal(answer.status, 204, 'nor does a preflight');
  t.notOk([...answer.headers.keys()].some((name) => name.startsWith('x-ratelimit')));
});

t.test('login, registration and account deletion share a bucket of their own', async (t) => {
  const { service, send } = await limited(t, 100, 8);
  const { token, email } = await service.person();
  const json = { 'Content-Type': 'application/json' };
  const login = (password: string) => JSON.stringify({ email, password });
  const asked: [status: number, method: string, path: string, sent?: Sent][] = [
    [200, 'POST', '/auth/login', { headers: json, body: login(PASSWORD) }],
    [401, 'POST', '/auth/login', { headers: json, body: login('wrong') }],
    [415, 'POST', '/auth/login', { headers: { 'Content-Type': 'text/plain' }, body: 'x' }],
    [400, 'POST', '/auth/register', { headers: json, body: '{}' }],
    [401, 'DELETE', '/profiles/me'],
    [401, 'DELETE', '/profiles/me', { token, headers: json, body: '{"password":"wrong"}' }],
  ];
  // Registering and logging in have counted already.
  for (const [index, [status, ...request]] of asked.entries()) {
    const answer = await send(...request);
    t.equal(answer.status, status, `${request[0]} ${request[1]}`);
    t.same([standing(answer).limit, remaining(answer)], [8, 5 - index]);
  }
  for (const [, ...request] of asked) t.equal((await send(...request)).status, 429, `${request[0]} ${request[1]}`);
  const own = await send('GET', '/profiles/me', { token });
  t.equal(own.status, 200, 'the same address by another method is not strict');
  t.equal(standing(own).limit, 100);

  const strict = contract.filter(({ id }) => ['register', 'login', 'deleteAccount'].includes(id));
  t.equal(strict.length, 3);
});

t.test('a window that ends begins anew', async (t) => {
  const { send } = await limited(t, 1, 1, { RATE_LIMIT_WINDOW: '2' });
  t.equal((await send('GET', '/posts')).status, 401);
  const refused = await send('GET', '/posts');
  t.equal(refused.status, 429);
  await sleep(Number(refused.headers.get('retry-after')) * 1000);
  t.equal((await send('GET', '/posts')).status, 401);
});

t.test('X-Forwarded-For counts for nothing unless the operator names the proxy', async (t) => {
  for (const environment of [{}, { TRUST_PROXY: '10.0.0.0/8,2001:db8::/32' }]) {
    const { forwarded } = await limited(t, 2, 2, environment);
    t.equal(remaining(await forwarded('192.0.2.1')), 1);
    t.equal(remaining(await forwarded('192.0.2.2')), 0);
    t.equal((await forwarded('10.0.0.1')).status, 429);
  }
});

// One service for all that follows: each test has addresses of its own.
const { service, send, forwarded } = await limited(t, 3, 3, { TRUST_PROXY: '127.0.0.0/8,10.0.0.0/8' });

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
  const heads = others.map((address) => `GET /nope HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n`);
  const received = await writeBytes(t, service.url, `${heads.join('\r\n')}Connection: close\r\n\r\n`);
  t.equal(received.match(/HTTP\/1\.1 404 /g)?.length, others.length);
  t.equal((await forwarded('203.0.113.9')).status, 429);
});
