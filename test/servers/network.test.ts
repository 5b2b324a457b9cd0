import t from 'tap';
import { needsAllServers, startFaultyStores } from '../faults/faulty-stores.js';
import { createProbes, expectFailures, expectRecovery, expectSuccesses } from '../faults/probes.js';
import type { Fault } from '../support/proxy.js';
import { startTestService } from '../support/service.js';
import { freshStores } from '../support/stores.js';

const FAULTS: Fault[] = ['silence', 'lose-responses', 'reset', 'refuse'];

/** Latencies that make no request fail. */
const LATENCIES_MS = { postgres: 200, graph: 200, images: 200, redis: 500 };

t.test('the connection to a store is faulty', needsAllServers, async (t) => {
  const { environment, ...faultyStores } = await startFaultyStores(t, await freshStores(t));
  const service = await startTestService(t, environment);

  for (const store of ['postgres', 'graph', 'images', 'redis'] as const) {
    for (const fault of FAULTS) {
      t.test(`${store}: ${fault}`, async (t) => {
        const operationProbes = await createProbes(service);
        await faultyStores[store].setFault(fault);
        // No operation needs Redis.
        if (store === 'redis') await expectSuccesses(t, operationProbes);
        else await expectFailures(t, store, operationProbes);
        await faultyStores[store].heal();
        await expectRecovery(t, service);
      });
    }

    t.test(`${store}: latency`, async (t) => {
      const operationProbes = await createProbes(service);
      await faultyStores[store].setFault({ latencyMs: LATENCIES_MS[store] });
      await expectSuccesses(t, operationProbes);
      await faultyStores[store].heal();
    });
  }
});
