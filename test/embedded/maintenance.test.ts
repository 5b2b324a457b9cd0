import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { openEmbeddedPostgres } from '../../db/postgres/embedded.js';
import type { Database } from '../../db/postgres/index.js';
import { startMaintenance } from '../../db/postgres/maintenance.js';
import { freshDataDirectory, silentLog } from '../support/stores.js';

/** An interval longer than the tests, which run maintenance explicitly. */
const LONGER_THAN_TEST_MS = 2 ** 30;

/** Opens an embedded database whose maintenance has not run yet. */
async function openUnmaintained(t: Test, options: { firstVacuumDelayMs?: number; hasRoom?: () => boolean } = {}) {
  const postgres = await openEmbeddedPostgres(join(await freshDataDirectory(t), 'postgres'), silentLog);
  const maintenance = startMaintenance(postgres, silentLog, { intervalMs: LONGER_THAN_TEST_MS, ...options });
  t.teardown(async () => {
    await maintenance.stop();
    await postgres.close();
  });
  const runMaintenance = async () => {
    // Otherwise PostgreSQL updates its statistics at most once a second.
    await sql`select pg_stat_force_next_flush()`.execute(postgres.db);
    await maintenance.runOnce();
  };
  return { db: postgres.db, maintenance, runMaintenance };
}

/** Opens an embedded database whose maintenance has run once. `runMaintenance` runs it again. */
async function openMaintained(t: Test) {
  const maintained = await openUnmaintained(t);
  await maintained.runMaintenance();
  return maintained;
}

const addLikes = (db: Database, postId: number, count: number) =>
  sql`insert into graph_likes (post_id, person_id) select ${postId}, * from generate_series(1, ${count}::int)`.execute(
    db,
  );

const removeLikes = (db: Database, postId: number, count: number) =>
  sql`delete from graph_likes where post_id = ${postId} and person_id <= ${count}`.execute(db);

/** Returns the value of an SQL expression. */
async function selectNumber(db: Database, expression: string): Promise<number> {
  const { rows } = await sql<{ value: number }>`select (${sql.raw(expression)})::float8 as value`.execute(db);
  return rows[0]?.value ?? Number.NaN;
}

const countDeadLikes = (db: Database) =>
  selectNumber(db, "select n_dead_tup from pg_stat_user_tables where relname = 'graph_likes'");

const countNeverVacuumed = (db: Database) =>
  selectNumber(db, 'select count(*) from pg_stat_user_tables where last_vacuum is null');

const walBytesToReplay = (db: Database) =>
  selectNumber(db, 'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) from pg_control_checkpoint()');

/** Runs `work` while other statements constantly wait for the connection. */
async function whileBusy(db: Database, work: () => Promise<void>): Promise<void> {
  let isBusy = true;
  const client = async () => {
    while (isBusy) await sql`select 1`.execute(db);
  };
  const clients = Array.from({ length: 8 }, client);
  try {
    await work();
  } finally {
    isBusy = false;
    await Promise.all(clients);
  }
}

t.test('limits the size of a table that is filled and emptied repeatedly', async (t) => {
  const { db, runMaintenance } = await openMaintained(t);
  const sizesInBytes: number[] = [];
  for (let round = 0; round < 14; round += 1) {
    await addLikes(db, round, 5000);
    await removeLikes(db, round, 5000);
    await runMaintenance();
    sizesInBytes.push(await selectNumber(db, "pg_total_relation_size('graph_likes')"));
  }
  t.equal(await countDeadLikes(db), 0);
  t.comment(`${sizesInBytes.join(', ')} bytes`);
  // Index pages are reused two rounds later.
  t.ok(
    (sizesInBytes[13] ?? 0) <= 2.5 * (sizesInBytes[0] ?? 0),
    'the table is at most 2.5 times as large as after the first round',
  );
});

t.test('vacuums only tables above the threshold', async (t) => {
  const { db, runMaintenance } = await openMaintained(t);
  await addLikes(db, 1, 1000);
  await runMaintenance();
  await removeLikes(db, 1, 200);
  await runMaintenance();
  const deadLikes = await countDeadLikes(db);
  t.equal(deadLikes, 200, '200 dead rows do not exceed the threshold of 50 rows and a fifth of the table');
  await removeLikes(db, 1, 300);
  await runMaintenance();
  t.equal(await countDeadLikes(db), 0);
});

t.test('while the connection is in use, vacuums only tables far above the threshold', async (t) => {
  const { db, runMaintenance } = await openMaintained(t);
  await addLikes(db, 1, 1000);
  await runMaintenance();
  await removeLikes(db, 1, 300);
  await whileBusy(db, runMaintenance);
  t.equal(await countDeadLikes(db), 300, '300 dead rows are not far above the threshold');
  await addLikes(db, 2, 1000);
  await removeLikes(db, 2, 1000);
  await whileBusy(db, runMaintenance);
  t.equal(await countDeadLikes(db), 0);
});

t.test('vacuums every table once after a start, since the counts of dead rows start at zero', async (t) => {
  const { db } = await openMaintained(t);
  t.equal(await countNeverVacuumed(db), 0);
  const tuples = (await selectNumber(db, "select reltuples from pg_class where relname = 'installation'")) >= 0;
  t.ok(tuples, 'tables are also analyzed');
});

t.test('vacuums nothing while the disk has no room', async (t) => {
  const { db, runMaintenance } = await openUnmaintained(t, { hasRoom: () => false });
  const before = await countNeverVacuumed(db);
  await runMaintenance();
  t.equal(await countNeverVacuumed(db), before);
});

t.test(
  'while the connection is in use, the first vacuum of a table waits, but not for more than the delay',
  async (t) => {
    const waiting = await openUnmaintained(t);
    await whileBusy(waiting.db, waiting.runMaintenance);
    t.ok((await countNeverVacuumed(waiting.db)) > 0);
    const overdue = await openUnmaintained(t, { firstVacuumDelayMs: 0 });
    await whileBusy(overdue.db, overdue.runMaintenance);
    t.equal(await countNeverVacuumed(overdue.db), 0);
  },
);

t.test('makes a checkpoint after 32 MiB of WAL, but not while checkpoints are held off, as for a backup', async (t) => {
  const { db, maintenance, runMaintenance } = await openMaintained(t);
  const writeWal = (bytes: number) =>
    sql`select pg_logical_emit_message(false, 'test', repeat('x', 1048576)) from generate_series(1, ${bytes / 2 ** 20}::int)`.execute(
      db,
    );
  await writeWal(16 * 2 ** 20);
  await runMaintenance();
  t.ok((await walBytesToReplay(db)) >= 16 * 2 ** 20, 'no checkpoint below the limit');
  const releaseFirst = maintenance.holdCheckpoints();
  await writeWal(24 * 2 ** 20);
  await runMaintenance();
  t.ok((await walBytesToReplay(db)) >= 40 * 2 ** 20, 'no checkpoint while checkpoints are held off');
  releaseFirst();
  await runMaintenance();
  t.ok((await walBytesToReplay(db)) < 2 ** 20);
  const releaseSecond = maintenance.holdCheckpoints();
  releaseFirst();
  await writeWal(40 * 2 ** 20);
  await runMaintenance();
  t.ok((await walBytesToReplay(db)) >= 40 * 2 ** 20, 'releasing the first hold again does not release the second');
  releaseSecond();
});

t.test('makes a checkpoint when it stops', async (t) => {
  const { db, maintenance } = await openMaintained(t);
  await addLikes(db, 1, 1000);
  t.ok((await walBytesToReplay(db)) > 10_000);
  await maintenance.stop();
  t.ok((await walBytesToReplay(db)) < 10_000);
});
