import { sql } from 'kysely';
import t from 'tap';
import { openPostgres } from '../../db/postgres/server.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { startProxy } from '../support/proxy.js';
import { freshStores, needsServers, openTestStores, silentLog } from '../support/stores.js';
import { retryWhileUnavailable } from '../support/until.js';

t.test('connections that have become silent are replaced', needsServers, async (t) => {
  const proxy = await startProxy(t, (await freshStores(t)).DATABASE_URL ?? '');
  const poolSize = 2;
  const { db, close } = openPostgres({ url: proxy.url, poolSize, graphPoolSize: 1, timeoutMs: 500 }, silentLog);
  t.teardown(close);
  const query = () => sql`select`.execute(db);
  await Promise.all([query(), query()]);
  await proxy.setFault('half-open');
  for (let count = 0; count < poolSize; count += 1) await t.rejects(query(), StoreUnavailableError);
  await query();
});

t.test('an outage of PostgreSQL is logged once, with its cause, and so is its end', needsServers, async (t) => {
  const proxy = await startProxy(t, (await freshStores(t)).DATABASE_URL ?? '');
  const lines: unknown[][] = [];
  const log = {
    info: (...line: unknown[]) => void lines.push(line),
    warn: (...line: unknown[]) => void lines.push(line),
  };
  const { db, close } = openPostgres({ url: proxy.url, poolSize: 2, graphPoolSize: 1, timeoutMs: 500 }, log);
  t.teardown(close);
  const query = () => sql`select`.execute(db);
  for (const [fault, cause] of [
    ['refuse', /ECONNREFUSED|terminated/],
    ['silence', /timeout/],
  ] as const) {
    await query();
    await t.rejects(sql`select * from nothing`.execute(db), { code: '42P01' });
    await proxy.setFault(fault);
    for (let count = 0; count < 4; count += 1) await t.rejects(query(), { message: cause });
    await proxy.setFault('none');
    await retryWhileUnavailable(query);
    t.equal(lines.length, 2);
    t.match(lines.splice(0), [
      [{ store: 'postgres', err: { message: cause } }, 'store unavailable'],
      [{ store: 'postgres' }, 'store available'],
    ]);
  }
});

t.test('a statement in progress on a silent server does not delay the shutdown', needsServers, async (t) => {
  const proxy = await startProxy(t, (await freshStores(t)).DATABASE_URL ?? '');
  const postgres = openPostgres({ url: proxy.url, poolSize: 1, graphPoolSize: 1, timeoutMs: 60_000 }, silentLog);
  const query = () => sql`select`.execute(postgres.maintenanceDb);
  await query();
  await proxy.setFault('silence');
  const lost = t.rejects(query(), StoreUnavailableError);
  await postgres.close();
  await lost;
});

t.test('every pool limits how long a transaction may be idle', needsServers, async (t) => {
  const { db, graphTransactions, maintenanceDb } = await openTestStores(t);
  for (const database of [db, graphTransactions, maintenanceDb]) {
    const show = sql<{ idle_in_transaction_session_timeout: string }>`show idle_in_transaction_session_timeout`;
    const { rows } = await database.transaction().execute((trx) => show.execute(trx));
    t.not(rows[0]?.idle_in_transaction_session_timeout, '0');
  }
});
