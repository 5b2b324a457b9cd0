import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import t, { type Test } from 'tap';
import { openRedis } from '../db/redis.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { noopObserver } from '../db/support/observer.js';
import { type Mode, startProxy } from './support/proxy.js';
import { connectRedis, NO_REDIS, redisUrlOfItsOwn } from './support/redis.js';
import { startTestService, type TestService } from './support/service.js';
import { wire } from './support/wire.js';

const AWAY = 'a store does not answer';
const BACK = 'a store answers again';

const keyOf = (address: string) => `social-posting:limits:general:${address}`;

/** A service that counts in this Redis, and ways to ask it as somebody behind a proxy. */
async function counting(t: Test, url: string, environment: Record<string, string> = {}) {
  const service = await startTestService(t, {
    RATE_LIMIT_MAX: '1000',
    RATE_LIMIT_STRICT_MAX: '8',
    RATE_LIMIT_WINDOW: '600',
    TRUST_PROXY: '127.0.0.1',
    REDIS_URL: url,
    // Longer than a busy machine needs.
    REDIS_TIMEOUT: '1000',
    TOKEN_KEYS: 'test:7e05c9b1a2f84d63908be1d75fa3c246',
    ...environment,
  });
  const send = wire(t, service.url);
  const ask = (address: string) => send('GET', '/posts', { headers: { 'X-Forwarded-For': address } });
  return {
    service,
    ask,
    login: (address: string) => send('POST', '/auth/login', { headers: { 'X-Forwarded-For': address } }),
    /** How many requests of this address have been counted, this one included. */
    async count(address: string) {
      const { status, headers } = await ask(address);
      if (status !== 401) throw new Error(`answered ${status}`);
      return Number(headers.get('x-ratelimit-limit')) - Number(headers.get('x-ratelimit-remaining'));
    },
    said: () => said(service),
  };
}

/** What a service's log has said about Redis. */
const said = (service: TestService): string[] =>
  service
    .logged()
    .split('\n')
    .flatMap((line) => (line.includes('"store":"redis"') ? [JSON.parse(line).msg] : []));

/** A connection alone, and what it has to say. */
async function connecting(t: Test, url: string) {
  const lines: string[] = [];
  const details: string[] = [];
  const write = (detail: object, line: string) => {
    lines.push(line);
    details.push(inspect(detail, { depth: 10, showHidden: true }));
  };
  const redis = await openRedis({ url, timeout: 100 }, { info: write, warn: write }, noopObserver);
  t.teardown(redis.close);
  return { redis, lines, details };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}

t.test('rediss speaks TLS from its first byte, and names the host', async (t) => {
  const server = createServer((socket) => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const hello = once(server, 'connection').then(([socket]) => once(socket, 'data'));
  await connecting(t, `rediss://:secret@localhost:${(server.address() as AddressInfo).port}/1`);
  const [bytes] = await hello;
  t.equal(bytes[0], 22, 'a handshake record');
  t.ok(bytes.includes('localhost'));
});

t.test('with a Redis', { skip: NO_REDIS }, async (t) => {
  const url = await redisUrlOfItsOwn(t);
  const admin = connectRedis(t, url);
  const proxy = await startProxy(t, url);
  const one = await counting(t, proxy.url);
  const two = await counting(t, url);

  t.test('two services count failed passwords together', async (t) => {
    const most = { ACCOUNT_FAILED_PASSWORDS_MAX: '3', RATE_LIMIT_STRICT_MAX: '1000' };
    const services = [await counting(t, proxy.url, most), await counting(t, url, most)] as const;
    const fail = async (index: 0 | 1) => {
      const json = { email: 'nobody@people.example', password: 'Quiet-Harbour-28!' };
      const { status, headers } = await services[index].service.send('POST', '/auth/login', { json });
      const seconds = Number(headers.get('retry-after'));
      return status === 429 && seconds > 3500 && seconds <= 3600 ? 'locked' : status;
    };
    t.same([await fail(0), await fail(1), await fail(0)], [401, 401, 401]);
    t.same([await fail(1), await fail(0)], ['locked', 'locked']);
    const [key = ''] = await admin.keys('social-posting:failed-passwords:*');
    t.notMatch(key, /nobody/);
    t.ok((await admin.pttl(key)) > 0, 'it expires');
    await admin.del(key);
    t.equal(await fail(0), 'locked', 'a service remembers what it has counted itself');
  });

  t.test('two services count in the same buckets', async (t) => {
    const address = '192.0.2.1';
    t.same([await one.count(address), await two.count(address), await one.count(address)], [1, 2, 3]);
    t.same([await one.count('192.0.2.2'), await two.count('192.0.2.3')], [1, 1], 'each address on its own');
    t.same(
      [await one.count('2001:db8:0:1::1'), await two.count('2001:db8:0:1:2::3'), await two.count('2001:db8:0:2::1')],
      [1, 2, 1],
      'IPv6 by /64',
    );
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
    t.equal(await one.count(address), 4, 'the other bucket is another');

    const keys = await admin.keys('*');
    t.ok(keys.includes(keyOf(address)));
    for (const key of keys) {
      t.match(key, /^social-posting:/);
      t.ok((await admin.pttl(key)) > 0, `${key} expires`);
    }
    t.same([...one.said(), ...two.said()], [], 'there was nothing to say');
  });

  t.test('a counter that was written to stay for ever does not', async (t) => {
    await admin.set(keyOf('192.0.2.4'), 5);
    const { headers } = await one.ask('192.0.2.4');
    t.equal(headers.get('x-ratelimit-reset'), '600');
    const left = await admin.pttl(keyOf('192.0.2.4'));
    t.ok(left > 0 && left <= 600_000, `it is gone in ${left} ms`);
  });

  for (const [index, mode] of (['refuse', 'reset', 'silent'] satisfies Mode[]).entries()) {
    t.test(`Redis away (${mode}): counting goes on in memory, and comes back`, async (t) => {
      const address = `198.51.100.${index}`;
      const before = one.said().length;
      const news = () => one.said().slice(before);
      t.same([await one.count(address), await two.count(address)], [1, 2]);

      await proxy.switch(mode);
      for (const counted of [1, 2, 3]) t.equal(await one.count(address), counted, 'in memory it begins anew');
      await until(() => news().length > 0);
      for (const counted of [4, 5, 6]) t.equal(await one.count(address), counted);
      t.equal(await two.count(address), 3, 'the other process goes on');
      for (let round = 0; round < 8; round += 1) t.equal((await one.login(address)).status, 400);
      t.equal((await one.login(address)).status, 429, 'the limits are the same');
      const ready = await fetch(`${one.service.opsUrl}/readyz`);
      t.equal(ready.status, 200, 'the service is ready without Redis');
      t.match(await ready.json(), { status: 'ok', stores: { redis: { ok: false }, postgres: { ok: true } } });
      t.same(news(), [AWAY]);

      await proxy.switch('pass');
      await until(() => news().length > 1);
      t.equal(await one.count(address), 4, 'where Redis had stopped');
      t.equal(await two.count(address), 5);
      t.same(news(), [AWAY, BACK], 'each said once');
      t.match(await (await fetch(`${one.service.opsUrl}/readyz`)).json(), { stores: { redis: { ok: true } } });
    });
  }

  t.test('a service that starts without Redis finds it later; a window that ends begins anew', async (t) => {
    await proxy.switch('refuse');
    const late = await counting(t, proxy.url, { RATE_LIMIT_WINDOW: '2' });
    t.same([await late.count('203.0.113.1'), await late.count('203.0.113.1')], [1, 2]);
    await until(() => late.said().length > 0);
    await proxy.switch('pass');
    await until(() => late.said().length > 1);
    t.same(late.said(), [AWAY, BACK]);
    await late.count('203.0.113.2');
    t.ok((await admin.pttl(keyOf('203.0.113.2'))) <= 2000, 'it counts there, in its window');
    while (await admin.exists(keyOf('203.0.113.2'))) await sleep(50);
    t.equal(await late.count('203.0.113.2'), 1);
  });

  t.test('a connection that is silent from the start is made anew', async (t) => {
    await proxy.switch('silent');
    const { redis, lines } = await connecting(t, proxy.url);
    await until(() => lines.length > 0);
    await proxy.switch('pass');
    await until(() => lines.length > 1);
    t.same(lines, [AWAY, BACK]);
    await redis.check();
  });

  t.test('what is asked has a deadline, and is not asked at all while Redis is away', async (t) => {
    const { redis, lines } = await connecting(t, proxy.url);
    const never = () => new Promise(() => undefined);
    await t.rejects(redis.run('wait', never), StoreUnavailableError, 'nobody waits for ever');
    await redis.check();
    t.same(lines, [], 'one slow call is no absence');

    await proxy.switch('silent');
    const lost = redis.run('count', (client) => client.incr('lost'));
    await t.rejects(lost, StoreUnavailableError);
    await until(() => lines.length > 0);
    let asked = 0;
    const ask = async () => {
      asked += 1;
    };
    await t.rejects(redis.run('count', ask), StoreUnavailableError);
    t.equal(asked, 0);
    await proxy.switch('pass');
    await until(() => lines.length > 1);
    await redis.run('count', ask);
    t.equal(asked, 1);
    t.equal(await admin.get('lost'), null, 'what was given up is not done later');
  });

  t.test('however long Redis is away, it is looked for', async (t) => {
    const { redis, lines } = await connecting(t, proxy.url);
    let tries = 0;
    redis.client.on('reconnecting', () => {
      tries += 1;
    });
    await proxy.switch('refuse');
    await t.rejects(redis.check(), StoreUnavailableError);
    await until(() => tries >= 6);
    await proxy.switch('pass');
    await until(() => lines.length > 1);
    t.same(lines, [AWAY, BACK]);
  });

  t.test('a Redis that answers but lets nobody count is away as well', async (t) => {
    const user = `reader${new URL(url).pathname.slice(1)}`;
    const password = 'pass:word/with@signs';
    await admin.acl('SETUSER', user, 'on', `>${password}`, '~*', '+@all', '-@write');
    t.teardown(() => admin.acl('DELUSER', user));
    const own = Object.assign(new URL(url), { username: user, password: encodeURIComponent(password) });
    const { redis, lines } = await connecting(t, own.href);
    await redis.check();
    await t.rejects(
      redis.run('count', (client) => client.incr('x')),
      StoreUnavailableError,
    );
    await until(() => lines.length > 0);
    await admin.acl('SETUSER', user, '+@all');
    await until(() => lines.length > 1);
    await redis.run('count', (client) => client.incr('x'));
    t.equal(await admin.get('x'), '1', 'in the database that the URL names');
    t.same(lines, [AWAY, BACK]);
  });

  t.test('a wrong password, or a database that the server lacks: away, said why, and no secret told', async (t) => {
    const user = `wrong${new URL(url).pathname.slice(1)}`;
    await admin.acl('SETUSER', user, 'on', '>right', '~*', '+@all');
    t.teardown(() => admin.acl('DELUSER', user));
    for (const [changes, why] of [
      [{ username: user, password: 'hunter2' }, /WRONGPASS/],
      [{ username: user, password: 'right', pathname: '/4294967' }, /DB index is out of range/],
    ] as const) {
      const { redis, lines, details } = await connecting(t, Object.assign(new URL(url), changes).href);
      await t.rejects(redis.check(), StoreUnavailableError);
      await until(() => lines.length > 0);
      t.same(lines, [AWAY]);
      t.match(details[0], why);
      t.notMatch(details[0], /hunter2|right/);
    }
  });
});
