import t from 'tap';
import { createProbes, expectFailures, expectRecovery } from '../faults/probes.js';
import { type FaultyStore, needsProxy, startFaultyStores } from '../faults/toxiproxy.js';
import { startTestService } from '../support/service.js';
import { freshStores } from '../support/stores.js';

const FAULTS = {
  silence: (faultyStore: FaultyStore) => faultyStore.blackhole(),
  'lost responses': (faultyStore: FaultyStore) => faultyStore.dropResponses(),
  reset: (faultyStore: FaultyStore) => faultyStore.reset(),
  refusal: (faultyStore: FaultyStore) => faultyStore.refuse(),
};

t.test('the connection to a store is faulty', needsProxy, async (t) => {
  const { environment, ...faultyStores } = await startFaultyStores(t, await freshStores(t));
  const service = await startTestService(t, environment);

  for (const store of ['postgres', 'graph', 'images'] as const) {
    for (const [name, inject] of Object.entries(FAULTS)) {
      t.test(`${store}: ${name}`, async (t) => {
        const operationProbes = await createProbes(service);
        await inject(faultyStores[store]);
        const slowestMs = await expectFailures(t, store, operationProbes);
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
