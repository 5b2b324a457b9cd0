import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { purgeExpiredKeys } from '../db/idempotency-keys.js';
import { startPurging } from '../db/purge.js';
import { purgeExpiredSessions } from '../db/sessions.js';
import type { Stores } from '../db/stores.js';
import { freshStores, openTestStores, silentLog } from './support/stores.js';
import { until } from './support/until.js';

const HOUR_MS = 60 * 60 * 1000;
const fromNow = (ms: number) => new Date(Date.now() + ms);

/** Adds a session and an idempotency key that have expired, and one of each that has not. Returns the id of the expired ones. */
async function addRows({ db }: Stores): Promise<string> {
  const [expired, live] = [randomUUID(), randomUUID()];
  const { id: account_id } = await db
    .insertInto('accounts')
    .values({ name: 'Test', username: expired, username_key: expired, email: expired, password_hash: 'hash' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const session = { account_id, device_name: 'Test' };
  const key = { account_id, form_hash: 'hash', post_id: 1 };
  await db
    .insertInto('sessions')
    .values([
      { ...session, id: expired, expires_at: fromNow(-1000) },
      { ...session, id: live, expires_at: fromNow(HOUR_MS) },
    ])
    .execute();
  await db
    .insertInto('idempotency_keys')
    .values([
      { ...key, key: expired, created_at: fromNow(-25 * HOUR_MS).toISOString() },
      { ...key, key: live, created_at: fromNow(-23 * HOUR_MS).toISOString() },
    ])
    .execute();
  return expired;
}

async function untilPurged({ db }: Stores, id: string): Promise<void> {
  const rows = async () => [
    ...(await db.selectFrom('sessions').select('id').where('id', '=', id).execute()),
    ...(await db.selectFrom('idempotency_keys').select('key').where('key', '=', id).execute()),
  ];
  await until(async () => (await rows()).length === 0);
}

async function countRows({ db }: Stores): Promise<number[]> {
  const sessions = await db.selectFrom('sessions').select('id').execute();
  const keys = await db.selectFrom('idempotency_keys').select('key').execute();
  return [sessions.length, keys.length];
}

t.test('a start purges expired sessions and idempotency keys, and no others', async (t) => {
  const environment = await freshStores(t);
  const before = await openTestStores(t, environment);
  const expired = await addRows(before);
  await before.close();
  const stores = await openTestStores(t, environment);
  await untilPurged(stores, expired);
  t.same(await countRows(stores), [1, 1], 'unexpired ones are kept');
});

t.test('a purge reads only the expired rows, from an index', async (t) => {
  const { db } = await openTestStores(t);
  await db.transaction().execute(async (trx) => {
    const countScans = async () => {
      const { rows } = await sql`select relname, seq_scan from pg_stat_xact_user_tables
        where relname in ('sessions', 'idempotency_keys') order by 1`.execute(trx);
      return rows;
    };
    // Otherwise PostgreSQL would scan an empty table.
    await sql`set local enable_seqscan = off`.execute(trx);
    const before = await countScans();
    await purgeExpiredSessions(trx);
    await purgeExpiredKeys(trx);
    t.same(await countScans(), before);
  });
});

t.test('purges periodically; a failed purge is logged, and the next one succeeds', async (t) => {
  const stores = await openTestStores(t);
  const { schema } = stores.db;
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
  const purging = startPurging(stores.db, log, { intervalMs: 20 });
  for (const [table, message] of [
    ['sessions', 'failed to purge expired sessions'],
    ['idempotency_keys', 'failed to purge expired idempotency keys'],
  ] as const) {
    await schema.alterTable(table).renameTo('renamed').execute();
    await until(() => warnings.includes(message));
    await schema.alterTable('renamed').renameTo(table).execute();
    await untilPurged(stores, await addRows(stores));
  }
  await purging.stop();
  t.equal(new Set(warnings).size, 2, 'no other warning');
  t.same(await countRows(stores), [2, 2], 'unexpired ones are kept');
});
