import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startServer, stopServer } from '../../scripts/services/control.js';
import type { ServerName } from '../../scripts/services/state.js';
import { createProbes } from '../faults/probes.js';
import { needsProxy } from '../faults/toxiproxy.js';
import { drainOutbox } from '../support/contents.js';
import { startTestService } from '../support/service.js';
import { freshStores } from '../support/stores.js';

const SERVERS: Record<string, ServerName> = { postgres: 'postgres', graph: 'neo4j', images: 's3', redis: 'redis' };

t.test('a store is stopped and restarted', needsProxy, async (t) => {
  const service = await startTestService(t, await freshStores(t));
  for (const [store, server] of Object.entries(SERVERS)) {
    t.test(store, async (t) => {
      const { probes, leaks } = await createProbes(service);
      await stopServer(server);
      try {
        for (const { name, needs, status, send } of probes) {
          const needed = store === 'postgres' || needs.some((each) => each === store);
          t.equal((await send()).status, needed ? 503 : status, name);
        }
        t.same(await leaks(), [], 'no hidden content is shown');
      } finally {
        await startServer(server);
      }
      while ((await fetch(`${service.opsUrl}/readyz`)).status !== 200) await sleep(50);
      const afterwards = await createProbes(service);
      for (const { name, status, send } of afterwards.probes)
        t.equal((await send()).status, status, `${name}, afterwards`);
      await drainOutbox(service.stores);
      t.pass('the outbox is empty');
    });
  }
});
