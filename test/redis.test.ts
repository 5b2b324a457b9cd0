import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import t, { type Test } from 'tap';
import { openRedis } from '../db/redis/index.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { noopObserver } from '../db/support/observer.js';
import { createSender } from './support/http.js';
import { listen } from './support/listen.js';
import { parseLog } from './support/processes.js';
import { type Fault, startProxy } from './support/proxy.js';
import { connectRedis, freshRedisUrl, needsRedis } from './support/redis.js';
import { startTestService } from './support/service.js';
import { retryWhileUnavailable, until } from './support/until.js';

const UNAVAILABLE = 'store unavailable';
const AVAILABLE = 'store available';

const keyOf = (address: string) => `social-posting:limits:general:${address}`;

/** Starts a service that counts in this Redis, with functions that send requests as a client behind a proxy. */
async function startCountingService(t: Test, url: string, environment: Record<string, string> = {}) {
  const service = await startTestService(t, {
    RATE_LIMIT_MAX: '1000',
    RATE_LIMIT_STRICT_MAX: '8',
    RATE_LIMIT_WINDOW: '600',
    TRUST_PROXY: '127.0.0.1',
    REDIS_URL: url,
    // Long enough for a busy machine.
    REDIS_TIMEOUT: '1000',
    TOKEN_KEYS: 'test:7e05c9b1a2f84d63908be1d75fa3c246',
    ...environment,
  });
  const send = createSender(t, service.url);
  const get = (address: string) => send('GET', '/posts', { headers: { 'X-Forwarded-For': address } });
  return {
    service,
    get,
    login: (address: string) => send('POST', '/auth/login', { headers: { 'X-Forwarded-For': address } }),
    /** Sends a request, and returns the number of counted requests of its address. */
    async count(address: string) {
      const { status, headers } = await get(address);
      if (status !== 401) throw new Error(`responded with ${status}`);
      return Number(headers.get('x-ratelimit-limit')) - Number(headers.get('x-ratelimit-remaining'));
    },
    /** Returns the log messages about Redis. */
    redisMessages: (): string[] =>
      parseLog(service.logged()).flatMap(({ store, msg }) => (store === 'redis' ? [msg] : [])),
  };
}

/** Returns the state of each store, as the operations server reports it. */
async function readStates(opsUrl: string): Promise<{ redis: { ok: boolean; reason?: string } }> {
  const { stores } = JSON.parse(await (await fetch(`${opsUrl}/readyz`)).text());
  return stores;
}

/** Opens a connection without a service, with the log messages about it and their details. */
async function openWithLog(t: Test, url: string) {
  const lines: string[] = [];
  const details: string[] = [];
  const write = (detail: object, line: string) => {
    lines.push(line);
    details.push(inspect(detail, { depth: 10, showHidden: true }));
  };
  const redis = await openRedis({ url, timeoutMs: 100 }, { info: write, warn: write }, noopObserver);
  t.teardown(redis.close);
  return { redis, lines, details };
}

t.test('rediss URLs use TLS with the server name', async (t) => {
  const server = createServer((socket) => socket.on('error', () => undefined));
  const port = await listen(t, server);
  const hello = once(server, 'connection').then(([socket]) => once(socket, 'data'));
  await openWithLog(t, `rediss://:secret@localhost:${port}/1`);
  const [bytes] = await hello;
  t.equal(bytes[0], 22, 'a handshake record');
  t.ok(bytes.includes('localhost'));
});

t.test('with Redis', needsRedis, async (t) => {
  const url = await freshRedisUrl(t);
  const admin = connectRedis(t, url);
  const proxy = await startProxy(t, url);
  const one = await startCountingService(t, proxy.url);
  const two = await startCountingService(t, url);

  t.test('two services count failed passwords together', async (t) => {
    const limits = { ACCOUNT_FAILED_PASSWORDS_MAX: '3', RATE_LIMIT_STRICT_MAX: '1000' };
    const services = [
      await startCountingService(t, proxy.url, limits),
      await startCountingService(t, url, limits),
    ] as const;
    // Sends a login with a wrong password to one of the services. Returns the status, or 'locked' if this email address has had
    // too many wrong passwords.
    const tryWrongPassword = async (index: 0 | 1, email = 'nobody@people.example') => {
      const json = { email, password: 'Quiet-Harbour-28!' };
      const { status, headers } = await services[index].service.send('POST', '/auth/login', { json });
      const seconds = Number(headers.get('retry-after'));
      return status === 429 && seconds > 3500 && seconds <= 3600 ? 'locked' : status;
    };
    t.same([await tryWrongPassword(0), await tryWrongPassword(1), await tryWrongPassword(0)], [401, 401, 401]);
    t.same([await tryWrongPassword(1), await tryWrongPassword(0)], ['locked', 'locked']);
    const [key = ''] = await admin.keys('social-posting:failed-passwords:*');
    t.notMatch(key, /nobody/);
    t.ok((await admin.pttl(key)) > 0, 'the count expires');
    const other = 'other@people.example';
    t.same([await tryWrongPassword(0, other), await tryWrongPassword(0, other)], [401, 401]);
    await admin.del(await admin.keys('social-posting:failed-passwords:*'));
    t.equal(await tryWrongPassword(0), 'locked', 'a service also counts in memory');
    t.same(
      [await tryWrongPassword(0, other), await tryWrongPassword(0, other)],
      [401, 'locked'],
      'a lower count in Redis does not replace the count in memory',
    );
  });

  t.test('two services count in the same buckets', async (t) => {
    const address = '192.0.2.1';
    t.same([await one.count(address), await two.count(address), await one.count(address)], [1, 2, 3]);
    t.same([await one.count('192.0.2.2'), await two.count('192.0.2.3')], [1, 1], 'each address on its own');
    for (const left of [7, 6, 5, 4, 3, 2, 1, 0]) {
      const { status, headers } = await (left % 2 ? one : two).login(address);
      t.equal(status, 400);
      t.same([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')], ['8', String(left)]);
    }
    for (const { login } of [one, two]) {
      const { status, headers } = await login(address);
      t.equal(status, 429);
      const reset = Number(headers.get('x-ratelimit-reset'));
      t.ok(reset > 0 && reset <= 600, `${reset} seconds left`);
      t.equal(headers.get('retry-after'), String(reset));
    }
    t.equal(await one.count(address), 4, 'the general bucket is separate');

    const keys = await admin.keys('*');
    t.ok(keys.includes(keyOf(address)));
    for (const key of keys) {
      t.match(key, /^social-posting:/);
      t.ok((await admin.pttl(key)) > 0, `${key} expires`);
    }
    t.same([...one.redisMessages(), ...two.redisMessages()], [], 'nothing is logged');
  });

  t.test('a counter without expiry gets one', async (t) => {
    await admin.set(keyOf('192.0.2.4'), 5);
    const { headers } = await one.get('192.0.2.4');
    t.equal(headers.get('x-ratelimit-reset'), '600');
    const left = await admin.pttl(keyOf('192.0.2.4'));
    t.ok(left > 0 && left <= 600_000, `it expires in ${left} ms`);
  });

  for (const [index, [fault, reason]] of (
    [
      ['refuse', /: (connect ECONNREFUSED \S+|not connected \(\w+\))$/],
      ['reset', /: (read ECONNRESET|not connected \(\w+\))$/],
      ['silence', /: (timed out after 1000 ms|connect ETIMEDOUT|Socket timeout.*|not connected \(\w+\))$/],
    ] satisfies [Fault, RegExp][]
  ).entries()) {
    t.test(`while Redis is unavailable (${fault}), requests are counted in memory`, async (t) => {
      const address = `198.51.100.${index}`;
      const before = one.redisMessages().length;
      const newMessages = () => one.redisMessages().slice(before);
      t.same([await one.count(address), await two.count(address)], [1, 2]);

      await proxy.setFault(fault);
      for (const counted of [1, 2, 3]) t.equal(await one.count(address), counted, 'counting in memory starts at zero');
      for (const counted of [4, 5, 6]) t.equal(await one.count(address), counted);
      t.equal(await two.count(address), 3, 'the other service keeps counting in Redis');
      for (let round = 0; round < 8; round += 1) t.equal((await one.login(address)).status, 400);
      t.equal((await one.login(address)).status, 429, 'the limits are the same');
      const ready = await fetch(`${one.service.opsUrl}/readyz`);
      t.equal(ready.status, 200, 'the service is ready without Redis');
      const stores = { redis: { ok: false, reason }, postgres: { ok: true } };
      t.match(await ready.json(), { status: 'ok', stores });
      t.same(newMessages(), [UNAVAILABLE]);

      await proxy.setFault('none');
      await until(async () => (await readStates(one.service.opsUrl)).redis.ok);
      t.equal(await one.count(address), 4, 'counting in Redis resumes');
      t.equal(await two.count(address), 5);
      t.same(newMessages(), [UNAVAILABLE, AVAILABLE], 'each is logged once');
    });
  }

  t.test('replaces a connection that is silent from the start', async (t) => {
    await proxy.setFault('silence');
    const { redis, lines } = await openWithLog(t, proxy.url);
    await proxy.setFault('none');
    await retryWhileUnavailable(redis.check);
    t.same(lines, [UNAVAILABLE, AVAILABLE]);
  });

  t.test('a command that timed out is not executed later', async (t) => {
    const { redis } = await openWithLog(t, proxy.url);
    await proxy.setFault('silence');
    const lost = redis.run('count', (client) => client.incr('lost'));
    await t.rejects(lost, StoreUnavailableError);
    await proxy.setFault('none');
    await retryWhileUnavailable(redis.check);
    t.equal(await admin.get('lost'), null);
  });

  t.test('keeps reconnecting while Redis is unavailable, without a limit', async (t) => {
    const { redis, lines } = await openWithLog(t, proxy.url);
    let attempts = 0;
    redis.client.on('reconnecting', () => {
      attempts += 1;
    });
    await proxy.setFault('refuse');
    await t.rejects(redis.check(), StoreUnavailableError);
    await until(() => attempts >= 6);
    await proxy.setFault('none');
    await retryWhileUnavailable(redis.check);
    t.same(lines, [UNAVAILABLE, AVAILABLE]);
  });

  t.test('a Redis that denies write access counts as unavailable', async (t) => {
    const user = `reader${new URL(url).pathname.slice(1)}`;
    const password = 'pass:word/with@signs';
    await admin.acl('SETUSER', user, 'on', `>${password}`, '~*', '+@all', '-@write');
    t.teardown(() => admin.acl('DELUSER', user));
    const credentialedUrl = Object.assign(new URL(url), { username: user, password: encodeURIComponent(password) });
    const { redis, lines } = await openWithLog(t, credentialedUrl.href);
    await t.rejects(redis.check(), StoreUnavailableError);
    const count = () => redis.run('count', (client) => client.incr('x'));
    await t.rejects(count(), StoreUnavailableError);
    await admin.acl('SETUSER', user, '+@all');
    await redis.check();
    await count();
    t.equal(await admin.get('x'), '1', 'in the database that the URL names');
    t.same(lines, [UNAVAILABLE, AVAILABLE]);
  });

  t.test('logs a wrong password or a missing database without secrets', async (t) => {
    const user = `wrong${new URL(url).pathname.slice(1)}`;
    await admin.acl('SETUSER', user, 'on', '>right', '~*', '+@all');
    t.teardown(() => admin.acl('DELUSER', user));
    for (const [changes, why] of [
      [{ username: user, password: 'hunter2' }, /WRONGPASS/],
      [{ username: user, password: 'right', pathname: '/4294967' }, /DB index is out of range/],
    ] as const) {
      const { redis, lines, details } = await openWithLog(t, Object.assign(new URL(url), changes).href);
      await t.rejects(redis.check(), StoreUnavailableError);
      t.same(lines, [UNAVAILABLE]);
      t.match(details[0], why);
      t.notMatch(details[0], /hunter2|right/);
    }
  });
});
