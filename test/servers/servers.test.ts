import { sql } from 'kysely';
import t from 'tap';
import { startBalancer } from '../support/balancer.js';
import { checkContract, failuresIn } from '../support/contract-run.js';
import { startProcess } from '../support/processes.js';
import { LONG_TIMEOUTS, startTestService } from '../support/service.js';
import { needsServers, openTestStores } from '../support/stores.js';

/** Rules about one connection, or about documents that each process serves on its own. */
const RULES_OF_ONE_PROCESS = /^(http|document)\./;

t.test('changes that one process has acknowledged are visible on the other immediately', needsServers, async (t) => {
  // One process is that of the test. Two consecutive requests of a rule reach different processes.
  const service = await startTestService(t, LONG_TIMEOUTS);
  const other = await startProcess(t, service.environment);
  const url = await startBalancer(t, [service.url, other.url]);
  const { outcomes, left } = await checkContract(url, { selects: (id) => !RULES_OF_ONE_PROCESS.test(id) });
  t.same(failuresIn(outcomes), []);
  t.same(left, []);
  const passed = outcomes.filter(({ verdict }) => verdict === 'passed').length;
  t.ok(passed > 500, `${passed} rules passed`);
});

t.test('the server ends idle transactions of every pool', needsServers, async (t) => {
  const { db, graphTransactions, maintenanceDb } = await openTestStores(t);
  for (const database of [db, graphTransactions, maintenanceDb]) {
    const show = sql<{ idle_in_transaction_session_timeout: string }>`show idle_in_transaction_session_timeout`;
    const { rows } = await database.transaction().execute((trx) => show.execute(trx));
    t.not(rows[0]?.idle_in_transaction_session_timeout, '0');
  }
});
