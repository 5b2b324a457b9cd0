import t from 'tap';
import { needsAllServers, startFaultyStores } from '../faults/faulty-stores.js';
import { createProbes, expectFailures, expectRecovery } from '../faults/probes.js';
import type { Fault } from '../support/proxy.js';
import { startTestService } from '../support/service.js';
import { freshStores } from '../support/stores.js';

const FAULTS: Fault[] = ['silence', 'lose-responses', 'reset', 'refuse'];

t.test('the connection to a store is faulty', needsAllServers, async (t) => {
  const { environment, ...faultyStores } = await startFaultyStores(t, await freshStores(t));
  const service = await startTestService(t, environment);

  for (const store of ['postgres', 'graph', 'images'] as const) {
    for (const fault of FAULTS) {
      t.test(`${store}: ${fault}`, async (t) => {
        const operationProbes = await createProbes(service);
        await faultyStores[store].setFault(fault);
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
      await faultyStores[store].setFault({ latencyMs: 200 });
      for (const { name, status, send } of probes) t.equal((await send()).status, status, name);
      t.same(await leaks(), []);
      await faultyStores[store].heal();
    });
  }

  for (const fault of [...FAULTS, { latencyMs: 500 }]) {
    t.test(`redis: ${JSON.stringify(fault)}: all requests succeed`, async (t) => {
      const { probes, leaks } = await createProbes(service);
      await faultyStores.redis.setFault(fault);
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
