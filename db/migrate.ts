import { type Kysely, Migrator, sql } from 'kysely';
import type { SocialGraph } from './graph/index.js';
import type { ImageStore } from './images/index.js';
import { checkInstallation, createInstallation, joinGraph, joinImages, skipPossiblyUsedIds } from './installation.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { migrations } from './postgres/migrations/index.js';
import type { Tables } from './schema.js';

/** Negative, since the lock keys of accounts and posts are positive: see `postgres/locks.ts`. */
const MIGRATION_LOCK_KEY = -1;

interface MigratedStores {
  maintenanceDb: Database;
  graph: SocialGraph;
  images: ImageStore;
}

/**
 * Migrates all stores and verifies that they belong together. Several processes may do this at the same time: an advisory
 * lock makes them take turns.
 *
 * @param onMigration called with the name of each PostgreSQL migration that was applied
 * @throws StoresDisagreeError
 */
export async function migrate(stores: MigratedStores, onMigration?: (migration: string) => void): Promise<void> {
  await migrateDatabase(stores, onMigration);
  await verifyGraph(stores);
  await verifyImages(stores);
}

/** Migrates PostgreSQL and checks its installation. @throws StoresDisagreeError */
export async function migrateDatabase(
  { maintenanceDb: db, graph, images }: MigratedStores,
  onMigration: (migration: string) => void = () => undefined,
): Promise<void> {
  for (const migration of await migratePostgres(db)) onMigration(migration);
  await createInstallation(db);
  await checkInstallation(db, { graph, images });
}

/** Migrates the graph and verifies that it belongs to this PostgreSQL. @throws StoresDisagreeError */
export async function verifyGraph({ maintenanceDb: db, graph }: Omit<MigratedStores, 'images'>): Promise<void> {
  // Throws before the lock is taken if the graph is unavailable: other processes must not wait for it.
  await graph.claimedBy();
  await withMigrationLock(db, async (trx) => {
    await graph.migrate();
    await joinGraph(trx, graph.within(trx));
  });
}

/** Verifies that the image store belongs to this PostgreSQL. @throws StoresDisagreeError */
export async function verifyImages({ maintenanceDb: db, images }: Omit<MigratedStores, 'graph'>): Promise<void> {
  await images.claimedBy();
  await withMigrationLock(db, (trx) => joinImages(trx, images));
}

/** Prepares for a start without the graph: see `skipPossiblyUsedIds`. */
export const skipIdsOfUnknownGraph = (db: Database) => withMigrationLock(db, skipPossiblyUsedIds);

const withMigrationLock = (db: Database, work: (trx: DatabaseTransaction) => Promise<void>): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK_KEY})`.execute(trx);
    await work(trx);
  });

/**
 * Applies pending migrations under the migrator's own lock, and returns their names. A database that a later version has migrated
 * further is left as it is: the migrator would refuse it, but a rollback needs it.
 */
export async function migratePostgres(db: Kysely<Tables>): Promise<string[]> {
  const applied = await findAppliedMigrations(db);
  if (Object.keys(migrations).every((name) => applied.has(name))) return [];
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) throw error;
  return results.map(({ migrationName }) => migrationName);
}

/** Returns the names of the applied migrations. Changes nothing. */
export async function findAppliedMigrations(db: Kysely<Tables>): Promise<Set<string>> {
  const { rows: tables } = await sql`select where to_regclass('kysely_migration') is not null`.execute(db);
  if (tables.length === 0) return new Set();
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return new Set(rows.map(({ name }) => name));
}
