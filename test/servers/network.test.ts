import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { StoreName } from '../../db/support/errors.js';
import { createProbes, type OperationProbes } from '../faults/probes.js';
import { type FaultyStore, needsProxy, startFaultyStores } from '../faults/toxiproxy.js';
import { drainOutbox } from '../support/contents.js';
import { startTestService, type TestService } from '../support/service.js';
import { freshStores } from '../support/stores.js';

const FAULTS = {
  silence: (faultyStore: FaultyStore) => faultyStore.blackhole(),
  'lost responses': (faultyStore: FaultyStore) => faultyStore.dropResponses(),
  reset: (faultyStore: FaultyStore) => faultyStore.reset(),
  refusal: (faultyStore: FaultyStore) => faultyStore.refuse(),
};

/** The duration of the slowest response of the current test. */
let slowestMs = 0;

/** Sends all probes concurrently, and expects 503 from those that need the store and success from the others. */
async function expectFailures(t: Test, store: StoreName, { probes, leaks }: OperationProbes): Promise<void> {
  const [leaked] = await Promise.all([
    leaks(),
    ...probes.map(async ({ name, needs, status, send }) => {
      const startedAt = performance.now();
      const response = await send();
      const needed = store === 'postgres' || needs.includes(store);
      t.equal(response.status, needed ? 503 : status, name);
      if (needed) t.ok(response.headers.get('retry-after'), `${name}: has Retry-After`);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }),
  ]);
  t.same(leaked, [], 'no hidden content is shown');
}

/** Expects every probe to succeed again without a restart, and drains the outbox. */
async function expectRecovery(t: Test, service: TestService): Promise<void> {
  while ((await fetch(`${service.opsUrl}/readyz`)).status !== 200) await sleep(50);
  const { probes, leaks } = await createProbes(service);
  for (const { name, status, send } of probes) t.equal((await send()).status, status, `${name}, afterwards`);
  t.same(await leaks(), []);
  await drainOutbox(service.stores);
  t.pass('the outbox is empty');
}

t.test('the connection to a store is faulty', needsProxy, async (t) => {
  const { environment, ...faultyStores } = await startFaultyStores(t, await freshStores(t));
  const service = await startTestService(t, environment);

  for (const store of ['postgres', 'graph', 'images'] as const) {
    for (const [name, inject] of Object.entries(FAULTS)) {
      t.test(`${store}: ${name}`, async (t) => {
        const operationProbes = await createProbes(service);
        await inject(faultyStores[store]);
        slowestMs = 0;
        await expectFailures(t, store, operationProbes);
        t.comment(`the slowest response took ${Math.round(slowestMs)} ms`);
        await faultyStores[store].heal();
        await expectRecovery(t, service);
      });
    }
  }

  for (const store of ['postgres', 'graph', 'images'] as const) {
    t.test(`${store}: latency does not make it unavailable`, async (t) => {
      const { probes, leaks } = await createProbes(service);
      await faultyStores[store].latency(200);
      for (const { name, status, send } of probes) t.equal((await send()).status, status, name);
      t.same(await leaks(), []);
      await faultyStores[store].heal();
    });
  }

  for (const [name, inject] of [
    ...Object.entries(FAULTS),
    ['latency', (faultyStore: FaultyStore) => faultyStore.latency(500)] as const,
  ]) {
    t.test(`redis: ${name}: all requests succeed`, async (t) => {
      const { probes, leaks } = await createProbes(service);
      await inject(faultyStores.redis);
      for (const { name, status, send } of probes) {
        const response = await send();
        t.equal(response.status, status, name);
        t.ok(response.headers.get('x-ratelimit-remaining'), `${name}: has rate limit headers`);
      }
      t.same(await leaks(), []);
      await faultyStores.redis.heal();
    });
  }
});
