import t from 'tap';
import type { StoreName } from '../../db/support/errors.js';
import { startServer, stopServer } from '../../scripts/services/control.js';
import type { ServerName } from '../../scripts/services/state.js';
import { needsAllServers } from '../faults/faulty-stores.js';
import { createProbes, expectFailures, expectRecovery } from '../faults/probes.js';
import { startTestService } from '../support/service.js';
import { freshStores } from '../support/stores.js';

/** The test stops servers that `npm run services` has started. */
const skip =
  needsAllServers.skip || (process.env.SERVICES_DIR === undefined && 'needs SERVICES_DIR: npm run test:services');

const SERVERS: [StoreName, ServerName][] = [
  ['postgres', 'postgres'],
  ['graph', 'neo4j'],
  ['images', 's3'],
  ['redis', 'redis'],
];

t.test('a store is stopped and restarted', { skip }, async (t) => {
  const service = await startTestService(t, await freshStores(t));
  for (const [store, server] of SERVERS) {
    t.test(store, async (t) => {
      const operationProbes = await createProbes(service);
      await stopServer(server);
      try {
        await expectFailures(t, store, operationProbes);
      } finally {
        await startServer(server);
      }
      await expectRecovery(t, service);
    });
  }
});
