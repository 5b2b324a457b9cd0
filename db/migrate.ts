import { type Kysely, Migrator, sql } from 'kysely';
import type { SocialGraph } from './graph/index.js';
import type { ImageStore } from './images/index.js';
import { joinStores } from './installation.js';
import { migrations } from './migrations/index.js';
import type { Database } from './postgres/index.js';
import type { Tables } from './tables.js';

/** Beside those of people and posts, which are positive: see `locks.ts`. */
const STORES_LOCK = -1;

/**
 * Brings every store's schema up to date and joins the stores. Safe when several processes do it at once: each waits for its
 * turn.
 *
 * @throws StoresDisagree
 */
export async function migrate(db: Database, graph: SocialGraph, images: ImageStore): Promise<void> {
  await migratePostgres(db);
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${STORES_LOCK})`.execute(trx);
    await graph.migrate();
    await joinStores(trx, graph.within(trx), images);
  });
}

/** The migrator takes a lock of its own. */
export async function migratePostgres(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}
