import t from 'tap';
import type { StoreName } from '../../db/support/errors.js';
import { needsAllServers, startFaultyStores } from '../faults/faulty-stores.js';
import { createProbes, expectFailures, expectRecovery, expectSuccesses } from '../faults/probes.js';
import type { Fault } from '../support/proxy.js';
import { startTestService } from '../support/service.js';
import { freshStores } from '../support/stores.js';

/**
 * The faults to test for each store. Lost responses are tested in `lost-responses.test.ts` and `neo4j-faults.test.ts`, other
 * faults of the image store and of Redis in `test/s3.test.ts` and `test/redis.test.ts`.
 */
const FAULTS: Record<StoreName, Fault[]> = {
  postgres: ['silence', 'reset', 'refuse'],
  graph: ['silence', 'reset', 'refuse'],
  images: ['silence'],
  redis: ['silence'],
};

/** Latencies that make no request fail. A request waits for PostgreSQL and the graph several times. */
const LATENCIES_MS = { postgres: 100, graph: 100, images: 200, redis: 500 };

t.test('the connection to a store is faulty', needsAllServers, async (t) => {
  const { environment, ...faultyStores } = await startFaultyStores(t, await freshStores(t));
  const service = await startTestService(t, environment);

  for (const store of ['postgres', 'graph', 'images', 'redis'] as const) {
    for (const fault of FAULTS[store]) {
      t.test(`${store}: ${fault}`, async (t) => {
        const operationProbes = await createProbes(service);
        await faultyStores[store].setFault(fault);
        // No operation needs Redis.
        if (store === 'redis') await expectSuccesses(t, operationProbes);
        else await expectFailures(t, store, operationProbes);
        const { stores } = JSON.parse(await (await fetch(`${service.opsUrl}/readyz`)).text());
        t.match(stores[store], { ok: false, reason: /^(The \w+ store is not available: (?!The |Stream).|timed out)/ });
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
