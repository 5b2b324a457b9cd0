import { sql } from 'kysely';
import type { SocialGraph } from '../graph/index.js';
import type { ImageStore } from '../images/index.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import { MIGRATION_LOCK_KEY } from '../postgres/locks.js';
import { migrations } from '../postgres/migrations/index.js';
import { raiseSequence } from '../postgres/sequences.js';
import { checkInstallation, createInstallation, verifyOrClaim } from './installation.js';

interface MigratedStores {
  maintenanceDb: Database;
  graph: SocialGraph;
  images: ImageStore;
}

/**
 * Migrates all stores and verifies that they belong together. Several processes may call this at the same time: an advisory
 * lock makes them run one after another.
 *
 * @throws StoresDisagreeError
 */
export async function migrate(stores: MigratedStores): Promise<void> {
  await prepareDatabase(stores);
  await prepareGraph(stores);
  await prepareImageStore(stores);
}

/** Migrates PostgreSQL and checks its installation. Returns the names of the applied migrations. @throws StoresDisagreeError */
export async function prepareDatabase({ maintenanceDb: db, graph, images }: MigratedStores): Promise<string[]> {
  const applied = await migratePostgres(db);
  await createInstallation(db);
  await checkInstallation(db, { graph, images });
  return applied;
}

/** Migrates the graph, verifies or claims it, and skips the ids that it contains. @throws StoresDisagreeError */
export async function prepareGraph({ maintenanceDb: db, graph }: Omit<MigratedStores, 'images'>): Promise<void> {
  // If the graph is unavailable, this throws before the lock is taken, so that no other process waits for the lock.
  await graph.claimedBy();
  await withMigrationLock(db, async (trx) => {
    await graph.migrate();
    const graphInTransaction = graph.within(trx);
    await verifyOrClaim(trx, 'graph', graphInTransaction);
    // A PostgreSQL restored from a backup may be older than the graph: new rows must not reuse the ids of existing nodes.
    const { person, post } = await graphInTransaction.highestIds();
    await raiseSequence(trx, 'accounts', person);
    await raiseSequence(trx, 'posts', post);
  });
}

/** Verifies or claims the image store. @throws StoresDisagreeError */
export async function prepareImageStore({ maintenanceDb: db, images }: Omit<MigratedStores, 'graph'>): Promise<void> {
  // Called before the lock is taken, as in `prepareGraph`.
  await images.claimedBy();
  await withMigrationLock(db, (trx) => verifyOrClaim(trx, 'images', images));
}

/** Runs `work` in a transaction that holds the migration lock. */
const withMigrationLock = <Result>(
  db: Database,
  work: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> =>
  db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK_KEY})`.execute(trx);
    return work(trx);
  });

/** How long a migration waits for a table. Statements of a running service that use the table wait behind the migration. */
const LOCK_TIMEOUT_MS = 1000;

/**
 * Applies pending migrations in one transaction. Returns their names. Changes nothing if all migrations of this version are
 * applied, even if a later version has applied further ones.
 *
 * Kysely's migrator is not used: it would reject the database of a later version, on which the service must be able to start
 * after a rollback. And its lock belongs to a session, which PgBouncer in transaction mode may change between lock and unlock.
 *
 * @throws StoreUnavailableError if a table is in use for longer than `LOCK_TIMEOUT_MS`, for example by a long transaction
 */
export async function migratePostgres(db: Database): Promise<string[]> {
  if (pendingMigrations(await findAppliedMigrations(db)).length === 0) return [];
  return withMigrationLock(db, async (trx) => {
    await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(trx);
    // The table has the name and columns that Kysely's migrator gave it in earlier versions.
    await sql`
      create table if not exists kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(
      trx,
    );
    const pending = pendingMigrations(await findAppliedMigrations(trx));
    for (const name of pending) {
      await migrations[name]?.up(trx);
      await sql`insert into kysely_migration values (${name}, ${new Date().toISOString()})`.execute(trx);
    }
    return pending;
  });
}

/** Returns the names of the migrations of this version that are not among the applied ones. */
export const pendingMigrations = (applied: ReadonlySet<string>): string[] =>
  Object.keys(migrations).filter((name) => !applied.has(name));

/** Returns the names of the applied migrations. Does not create the migration table. */
export async function findAppliedMigrations(db: Database): Promise<Set<string>> {
  const { rows: tables } = await sql`select where to_regclass('kysely_migration') is not null`.execute(db);
  if (tables.length === 0) return new Set();
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return new Set(rows.map(({ name }) => name));
}
