import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { openEmbeddedPostgres } from '../../db/postgres/embedded.js';
import type { Database } from '../../db/postgres/index.js';
import { type Maintenance, startMaintenance } from '../../db/postgres/maintenance.js';
import { freshDataDirectory, silentLog } from '../support/stores.js';

/** Longer than the tests, which run maintenance explicitly. */
const NEVER_MS = 2 ** 30;

/** Opens an embedded database whose maintenance has run once. `runMaintenance` runs it again. */
async function open(t: Test): Promise<{ db: Database; maintenance: Maintenance; look(): Promise<void> }> {
  const postgres = await openEmbeddedPostgres(join(await freshDataDirectory(t), 'postgres'), silentLog);
  const maintenance = startMaintenance(postgres, silentLog, { intervalMs: NEVER_MS });
  t.teardown(async () => {
    await maintenance.stop();
    await postgres.close();
  });
  const runMaintenance = async () => {
    // Otherwise PostgreSQL updates its statistics once a second.
    await sql`select pg_stat_force_next_flush()`.execute(postgres.db);
    await maintenance.runOnce();
  };
  await runMaintenance();
  return { db: postgres.db, maintenance, look: runMaintenance };
}

const like = (db: Database, post: number, people: number) =>
  sql`insert into graph_likes (post_id, person_id) select ${post}, * from generate_series(1, ${people}::int)`.execute(
    db,
  );

const unlike = (db: Database, post: number, people: number) =>
  sql`delete from graph_likes where post_id = ${post} and person_id <= ${people}`.execute(db);

async function numberFrom(db: Database, expression: string): Promise<number> {
  const { rows } = await sql<{ value: number }>`select (${sql.raw(expression)})::float8 as value`.execute(db);
  return rows[0]?.value ?? Number.NaN;
}

const deadLikes = (db: Database) =>
  numberFrom(db, "select n_dead_tup from pg_stat_user_tables where relname = 'graph_likes'");

const walToReplay = (db: Database) =>
  numberFrom(db, 'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) from pg_control_checkpoint()');

/** Runs `work` while other statements always wait for the connection. */
async function whileBusy(db: Database, work: () => Promise<void>): Promise<void> {
  let busy = true;
  const client = async () => {
    while (busy) await sql`select 1`.execute(db);
  };
  const clients = Array.from({ length: 8 }, client);
  await work();
  busy = false;
  await Promise.all(clients);
}

t.test('limits the size of a table that is filled and emptied repeatedly', async (t) => {
  const { db, look: runMaintenance } = await open(t);
  const sizes: number[] = [];
  for (let round = 0; round < 14; round += 1) {
    await like(db, round, 5000);
    await unlike(db, round, 5000);
    await runMaintenance();
    sizes.push(await numberFrom(db, "pg_total_relation_size('graph_likes')"));
  }
  t.equal(await deadLikes(db), 0);
  t.comment(`${sizes.join(', ')} bytes`);
  // Index pages are reused two rounds later.
  t.ok((sizes[13] ?? 0) <= 2.5 * (sizes[0] ?? 0), 'without VACUUM it would be 14 times the size');
});

t.test('vacuums only what exceeds the threshold', async (t) => {
  const { db, look: runMaintenance } = await open(t);
  await like(db, 1, 1000);
  await runMaintenance();
  await unlike(db, 1, 200);
  await runMaintenance();
  t.equal(await deadLikes(db), 200, 'the threshold is 50 rows and a fifth of the table');
  await unlike(db, 1, 300);
  await runMaintenance();
  t.equal(await deadLikes(db), 0);
});

t.test('while requests wait, vacuums only what is far above the threshold', async (t) => {
  const { db, look: runMaintenance } = await open(t);
  await like(db, 1, 1000);
  await runMaintenance();
  await unlike(db, 1, 300);
  await whileBusy(db, runMaintenance);
  t.equal(await deadLikes(db), 300);
  await like(db, 2, 1000);
  await unlike(db, 2, 1000);
  await whileBusy(db, runMaintenance);
  t.equal(await deadLikes(db), 0);
});

t.test('vacuums every table once after a start, since the counts of dead rows start at zero', async (t) => {
  const { db } = await open(t);
  t.equal(await numberFrom(db, 'select count(*) from pg_stat_user_tables where last_vacuum is null'), 0);
  t.ok(
    (await numberFrom(db, "select reltuples from pg_class where relname = 'installation'")) >= 0,
    'the table is analyzed',
  );
});

t.test('makes a checkpoint after 32 MiB of WAL, but not during a backup', async (t) => {
  const { db, maintenance, look: runMaintenance } = await open(t);
  const write = (bytes: number) =>
    sql`select pg_logical_emit_message(false, 'test', repeat('x', 1048576)) from generate_series(1, ${bytes / 2 ** 20}::int)`.execute(
      db,
    );
  await write(16 * 2 ** 20);
  await runMaintenance();
  t.ok((await walToReplay(db)) >= 16 * 2 ** 20, 'no checkpoint below the limit');
  const release = maintenance.holdCheckpoints();
  await write(24 * 2 ** 20);
  await runMaintenance();
  t.ok((await walToReplay(db)) >= 40 * 2 ** 20);
  release();
  await runMaintenance();
  t.ok((await walToReplay(db)) < 2 ** 20);
  const releaseNext = maintenance.holdCheckpoints();
  release();
  await write(40 * 2 ** 20);
  await runMaintenance();
  t.ok((await walToReplay(db)) >= 40 * 2 ** 20, 'releasing a hold twice does not release another one');
  releaseNext();
});

t.test('makes a checkpoint when it stops', async (t) => {
  const { db, maintenance } = await open(t);
  await like(db, 1, 1000);
  t.ok((await walToReplay(db)) > 10_000);
  await maintenance.stop();
  t.ok((await walToReplay(db)) < 10_000);
});
