import { type Kysely, Migrator, sql } from 'kysely';
import type { SocialGraph } from './graph/index.js';
import type { ImageStore } from './images/index.js';
import { foundInstallation, joinStores } from './installation.js';
import { migrations } from './migrations/index.js';
import type { Database } from './postgres/index.js';
import type { Tables } from './tables.js';

/** Beside those of people and posts, which are positive: see `locks.ts`. */
const STORES_LOCK = -1;

interface MigratedStores {
  patientDb: Database;
  graph: SocialGraph;
  images: ImageStore;
}

/**
 * Brings every store's schema up to date and joins the stores. Safe when several processes do it at once: each waits for its
 * turn.
 *
 * @param applied is told each of PostgreSQL's migrations that was due
 * @throws StoresDisagree
 */
export async function migrate(
  { patientDb: db, graph, images }: MigratedStores,
  applied: (migration: string) => void = () => undefined,
): Promise<void> {
  for (const migration of await migratePostgres(db)) applied(migration);
  await foundInstallation(db);
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${STORES_LOCK})`.execute(trx);
    await graph.migrate();
    await joinStores(trx, graph.within(trx), images);
  });
}

/** The migrator takes a lock of its own. Answers the names of the migrations that were due. */
export async function migratePostgres(db: Kysely<Tables>): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) throw error;
  return results.map(({ migrationName }) => migrationName);
}
