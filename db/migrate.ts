import { type Kysely, Migrator, sql } from 'kysely';
import type { SocialGraph } from './graph/index.js';
import type { ImageStore } from './images/index.js';
import { checkInstallation, createInstallation, joinGraph, joinImages, skipPossiblyUsedIds } from './installation.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { migrations } from './postgres/migrations/index.js';
import type { Tables } from './schema.js';

/** Beside those of people and posts, which are positive: see `locks.ts`. */
const STORES_LOCK = -1;

interface MigratedStores {
  maintenanceDb: Database;
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
export async function migrate(stores: MigratedStores, applied?: (migration: string) => void): Promise<void> {
  await migrateDatabase(stores, applied);
  await verifyGraph(stores);
  await verifyImages(stores);
}

/** Does what needs PostgreSQL alone. @throws StoresDisagree */
export async function migrateDatabase(
  { maintenanceDb: db, graph, images }: MigratedStores,
  applied: (migration: string) => void = () => undefined,
): Promise<void> {
  for (const migration of await migratePostgres(db)) applied(migration);
  await createInstallation(db);
  await checkInstallation(db, { graph, images });
}

/** Brings the graph's schema up to date and joins it with PostgreSQL. @throws StoresDisagree */
export async function verifyGraph({ maintenanceDb: db, graph }: Omit<MigratedStores, 'images'>): Promise<void> {
  // One that is unavailable must not keep the lock from others.
  await graph.claimedBy();
  await locked(db, async (trx) => {
    await graph.migrate();
    await joinGraph(trx, graph.within(trx));
  });
}

/** Joins the images with PostgreSQL. @throws StoresDisagree */
export async function verifyImages({ maintenanceDb: db, images }: Omit<MigratedStores, 'graph'>): Promise<void> {
  await images.claimedBy();
  await locked(db, (trx) => joinImages(trx, images));
}

/** For starts without the graph: see `reserveIds`. */
export const skipIdsOfUnknownGraph = (db: Database) => locked(db, skipPossiblyUsedIds);

const locked = (db: Database, work: (trx: DatabaseTransaction) => Promise<void>): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${STORES_LOCK})`.execute(trx);
    await work(trx);
  });

/** The migrator takes a lock of its own. Answers the names of the migrations that were due. */
export async function migratePostgres(db: Kysely<Tables>): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) throw error;
  return results.map(({ migrationName }) => migrationName);
}
