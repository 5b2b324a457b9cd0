import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { StoreName } from '../../db/support/errors.js';
import { assemble, type Cast } from '../faults/cast.js';
import { type FaultyStore, needsProxy, startFaultyStores } from '../faults/toxiproxy.js';
import { settled } from '../support/contents.js';
import { startTestService, type TestService } from '../support/service.js';
import { freshStores } from '../support/stores.js';

const FAULTS = {
  silence: (way: FaultyStore) => way.silence(),
  'answers lost': (way: FaultyStore) => way.loseAnswers(),
  reset: (way: FaultyStore) => way.reset(),
  refusal: (way: FaultyStore) => way.refuse(),
};

/** Asks everything at once: 503 where the store is needed, and success where it is not. */
async function during(t: Test, store: StoreName, { probes, leaks }: Cast): Promise<void> {
  const [shown] = await Promise.all([
    leaks(),
    ...probes.map(async ({ name, needs, status, ask }) => {
      const began = performance.now();
      const answer = await ask();
      const needed = store === 'postgres' || needs.includes(store);
      t.equal(answer.status, needed ? 503 : status, name);
      if (needed) t.ok(answer.headers.get('retry-after'), `${name}: says when to try again`);
      slowest = Math.max(slowest, performance.now() - began);
    }),
  ]);
  t.same(shown, [], 'nothing hidden is shown');
}

let slowest = 0;

/** Everything works again without a restart, and what other stores had to follow has followed. */
async function afterwards(t: Test, service: TestService): Promise<void> {
  while ((await fetch(`${service.opsUrl}/readyz`)).status !== 200) await sleep(50);
  const { probes, leaks } = await assemble(service);
  for (const { name, status, ask } of probes) t.equal((await ask()).status, status, `${name}, afterwards`);
  t.same(await leaks(), []);
  await settled(service.stores);
  t.pass('the outbox has run empty');
}

t.test('the way to a store is disturbed', needsProxy, async (t) => {
  const { environment, ...ways } = await startFaultyStores(t, await freshStores(t));
  const service = await startTestService(t, environment);

  for (const store of ['postgres', 'graph', 'images'] as const) {
    for (const [name, strike] of Object.entries(FAULTS)) {
      t.test(`${store}: ${name}`, async (t) => {
        const cast = await assemble(service);
        await strike(ways[store]);
        slowest = 0;
        await during(t, store, cast);
        t.comment(`the slowest answer took ${Math.round(slowest)} ms`);
        await ways[store].heal();
        await afterwards(t, service);
      });
    }
  }

  for (const store of ['postgres', 'graph', 'images'] as const) {
    t.test(`${store}: latency is no absence`, async (t) => {
      const { probes, leaks } = await assemble(service);
      await ways[store].latency(200);
      for (const { name, status, ask } of probes) t.equal((await ask()).status, status, name);
      t.same(await leaks(), []);
      await ways[store].heal();
    });
  }

  for (const [name, strike] of [
    ...Object.entries(FAULTS),
    ['latency', (way: FaultyStore) => way.latency(500)] as const,
  ]) {
    t.test(`redis: ${name}: nobody has to know`, async (t) => {
      const { probes, leaks } = await assemble(service);
      await strike(ways.redis);
      for (const { name, status, ask } of probes) {
        const answer = await ask();
        t.equal(answer.status, status, name);
        t.ok(answer.headers.get('x-ratelimit-remaining'), `${name}: is counted`);
      }
      t.same(await leaks(), []);
      await ways.redis.heal();
    });
  }
});
