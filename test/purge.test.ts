import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { purgeExpiredKeys } from '../db/idempotency-keys.js';
import { purgeExpiredSessions } from '../db/sessions.js';
import type { Stores } from '../db/stores/index.js';
import { startPurging } from '../db/stores/purge.js';
import { freshStores, openTestStores, silentLog } from './support/stores.js';
import { until } from './support/until.js';

/** Adds an account with an expired session and idempotency key, and one of each that has not expired. Returns its id. */
async function addRows({ db }: Stores): Promise<number> {
  const name = randomUUID();
  const { id } = await db
    .insertInto('accounts')
    .values({ name: 'Test', username: name, username_key: name, email: name, password_hash: 'hash' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`
    insert into sessions (id, account_id, device_name, expires_at)
    select gen_random_uuid(), ${id}, 'Test', now() + hours * interval '1 hour' from unnest(array[-1, 1]) as hours`.execute(
    db,
  );
  await sql`
    insert into idempotency_keys (account_id, key, form_hash, post_id, created_at)
    select ${id}, hours, 'hash', 1, now() - hours * interval '1 hour' from unnest(array[25, 23]) as hours`.execute(db);
  return id;
}

/** Waits until the expired rows of an account are deleted, and expects the others to be kept. */
async function expectPurged(t: Test, { db }: Stores, account: number): Promise<void> {
  const countRows = async () => {
    const sessions = await db.selectFrom('sessions').select('id').where('account_id', '=', account).execute();
    const keys = await db.selectFrom('idempotency_keys').select('key').where('account_id', '=', account).execute();
    return [sessions.length, keys.length];
  };
  await until(async () => (await countRows()).every((count) => count < 2));
  t.same(await countRows(), [1, 1], 'unexpired rows are kept');
}

t.test('opening the stores purges expired sessions and idempotency keys, and no others', async (t) => {
  const environment = await freshStores(t);
  const before = await openTestStores(t, environment);
  const account = await addRows(before);
  await before.close();
  await expectPurged(t, await openTestStores(t, environment), account);
});

t.test('a purge uses an index to find the expired rows', async (t) => {
  const { db } = await openTestStores(t);
  await db.transaction().execute(async (trx) => {
    const countScans = async () => {
      const { rows } = await sql`select relname, seq_scan from pg_stat_xact_user_tables
        where relname in ('sessions', 'idempotency_keys') order by 1`.execute(trx);
      return rows;
    };
    // Otherwise PostgreSQL would scan the tables without an index, because they are empty.
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
    await expectPurged(t, stores, await addRows(stores));
  }
  await purging.stop();
  t.equal(new Set(warnings).size, 2, 'no other warning');
});
