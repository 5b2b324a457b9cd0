import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { openEmbeddedPostgres } from '../../db/postgres/embedded.js';
import type { Database } from '../../db/postgres/index.js';
import { type Maintenance, startMaintenance } from '../../db/postgres/maintenance.js';
import { freshDataDirectory, quiet } from '../support/stores.js';

/** Longer than the tests: each look is asked for. */
const NEVER_MS = 2 ** 30;

/** An embedded database, whose maintenance has looked once. `look` lets it look again. */
async function open(t: Test): Promise<{ db: Database; maintenance: Maintenance; look(): Promise<void> }> {
  const postgres = await openEmbeddedPostgres(join(await freshDataDirectory(t), 'postgres'), quiet);
  const maintenance = startMaintenance(postgres, quiet, { intervalMs: NEVER_MS });
  t.teardown(async () => {
    await maintenance.stop();
    await postgres.close();
  });
  const look = async () => {
    // PostgreSQL adds up its counts once a second otherwise.
    await sql`select pg_stat_force_next_flush()`.execute(postgres.db);
    await maintenance.runOnce();
  };
  await look();
  return { db: postgres.db, maintenance, look };
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

/** Runs `work` while requests always wait for the connection. */
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

t.test('keeps a table that is filled and emptied again and again at its size', async (t) => {
  const { db, look } = await open(t);
  const sizes: number[] = [];
  for (let round = 0; round < 14; round += 1) {
    await like(db, round, 5000);
    await unlike(db, round, 5000);
    await look();
    sizes.push(await numberFrom(db, "pg_total_relation_size('graph_likes')"));
  }
  t.equal(await deadLikes(db), 0);
  t.comment(`${sizes.join(', ')} bytes`);
  // Pages of an index are used again two rounds later.
  t.ok((sizes[13] ?? 0) <= 2.5 * (sizes[0] ?? 0), 'without VACUUM it would be 14 times the size');
});

t.test('vacuums only what exceeds the threshold', async (t) => {
  const { db, look } = await open(t);
  await like(db, 1, 1000);
  await look();
  await unlike(db, 1, 200);
  await look();
  t.equal(await deadLikes(db), 200, '50 rows and a fifth of the table may be dead');
  await unlike(db, 1, 300);
  await look();
  t.equal(await deadLikes(db), 0);
});

t.test('while requests wait, vacuums only what is far above the threshold', async (t) => {
  const { db, look } = await open(t);
  await like(db, 1, 1000);
  await look();
  await unlike(db, 1, 300);
  await whileBusy(db, look);
  t.equal(await deadLikes(db), 300);
  await like(db, 2, 1000);
  await unlike(db, 2, 1000);
  await whileBusy(db, look);
  t.equal(await deadLikes(db), 0);
});

t.test('vacuums every table once after a start, since the counts of dead rows start at zero', async (t) => {
  const { db } = await open(t);
  t.equal(await numberFrom(db, 'select count(*) from pg_stat_user_tables where last_vacuum is null'), 0);
  t.ok((await numberFrom(db, "select reltuples from pg_class where relname = 'installation'")) >= 0, 'and analyzes it');
});

t.test('makes a checkpoint after 32 MiB of WAL, but none while a backup needs the WAL', async (t) => {
  const { db, maintenance, look } = await open(t);
  const write = (bytes: number) =>
    sql`select pg_logical_emit_message(false, 'test', repeat('x', 1048576)) from generate_series(1, ${bytes / 2 ** 20}::int)`.execute(
      db,
    );
  await write(16 * 2 ** 20);
  await look();
  t.ok((await walToReplay(db)) >= 16 * 2 ** 20, 'less is left to be replayed');
  const release = maintenance.holdCheckpoints();
  await write(24 * 2 ** 20);
  await look();
  t.ok((await walToReplay(db)) >= 40 * 2 ** 20);
  release();
  await look();
  t.ok((await walToReplay(db)) < 2 ** 20);
  const releaseNext = maintenance.holdCheckpoints();
  release();
  await write(40 * 2 ** 20);
  await look();
  t.ok((await walToReplay(db)) >= 40 * 2 ** 20, 'a hold that is released twice ends no other');
  releaseNext();
});

t.test('leaves nothing to be replayed when it stops', async (t) => {
  const { db, maintenance } = await open(t);
  await like(db, 1, 1000);
  t.ok((await walToReplay(db)) > 10_000);
  await maintenance.stop();
  t.ok((await walToReplay(db)) < 10_000);
});
