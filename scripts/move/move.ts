import type { Database } from '../../db/postgres/index.js';
import {
  CLAIMED_STORES,
  type ClaimedStore,
  readInstallation,
  STORE_NAMES,
  StoresDisagreeError,
} from '../../db/stores/installation.js';
import { findAppliedMigrations, migrate, migratePostgres } from '../../db/stores/migrate.js';
import { retryUntilAvailable } from '../../db/support/retry.js';
import { readIds } from '../support/pages.js';
import type { Progress } from '../support/progress.js';
import { copyGraph, copyImages, copyRows, countContents } from './copy.js';
import { type MoveStores, type StoreSet, throwNaming } from './stores.js';

/** The numbers of rows, edges and images, by what they count. */
interface MoveResult {
  source: Record<string, number>;
  target: Record<string, number>;
}

/**
 * Moves an installation to empty stores: copies it, counts what was copied, and switches over if the numbers are equal. Until
 * then, the source is unchanged, and no service starts on the target: its PostgreSQL is marked with `moving`, and the stores that
 * belong to it have no installation marker. After an interruption, the target must be emptied and the move repeated.
 *
 * @throws StoresDisagreeError before anything is copied, when the source stores do not belong together or the target is not empty
 * @throws StoreUnavailableError; before anything is copied, only after waiting for the store as a start does
 */
export async function move(stores: MoveStores, progress: Progress): Promise<MoveResult> {
  const { source, target, shared } = stores;
  const id = await retryUntilAvailable(() => prepareSource(source)).catch(throwNaming('Source'));
  await retryUntilAvailable(() => prepareTarget(stores, id)).catch(throwNaming('Target'));
  if (!shared.postgres) await copyRows(source.db, target.db, progress);
  if (!shared.graph) await copyGraph(source, target.graph, progress);
  if (!shared.images) await copyImages(source.images, target, progress);
  const counts = {
    source: await countContents(source, shared, progress),
    target: await countContents(target, shared, progress),
  };
  if (areEqual(counts)) await switchOver(stores, id);
  return counts;
}

export const areEqual = ({ source, target }: MoveResult) =>
  Object.keys(source).every((what) => source[what] === target[what]);

/** Migrates the source, as a start of the service does, and checks that its stores belong together. Returns the installation. */
async function prepareSource({ db, graph, images }: StoreSet): Promise<string> {
  if (await isEmptyDatabase(db)) throw new StoresDisagreeError('The source is empty');
  await graph.warmUp();
  await migrate({ maintenanceDb: db, graph, images }).catch((error) => {
    throw error instanceof StoresDisagreeError ? new StoresDisagreeError(`Source: ${error.message}`) : error;
  });
  const { id } = await db.selectFrom('installation').select('id').executeTakeFirstOrThrow();
  return id;
}

/** Checks that the stores to fill are empty, migrates them, and marks a PostgreSQL that is to be filled. */
async function prepareTarget({ target, shared }: MoveStores, id: string): Promise<void> {
  const { db, graph, images, location } = target;
  /** Returns what is wrong with a store that must be empty. */
  const notEmpty = (name: string, store: keyof typeof location) =>
    new StoresDisagreeError(
      `${name} is not empty: ${location[store]}. Delete what it contains, or name an empty one in the file, and move again`,
    );
  /** The installation that has used the target before, if any. */
  const former = shared.postgres ? undefined : (await readInstallation(db))?.id;
  if (!shared.postgres) {
    if (!(await isEmptyDatabase(db))) throw notEmpty('The PostgreSQL of the target', 'postgres');
    await migratePostgres(db);
    // Earlier versions have no such table.
    if ((await readIds(db, 'operator_log')(0, 1)).length > 0)
      throw notEmpty('The operator log of the target', 'postgres');
  }
  const isEmpty = {
    // Edges in tables that are not the graph of these rows are left from an earlier use, and deleted below.
    graph: async () =>
      graph.kind === 'embedded' ||
      [...(await graph.bulk.personIds(0, 1)), ...(await graph.bulk.postIds(0, 1))].length === 0,
    images: async () => (await images.list()[Symbol.asyncIterator]().next()).done === true,
  };
  // Before calls with the short timeout of requests, which a Neo4j that has just started exceeds.
  if (!shared.graph) await graph.warmUp();
  for (const storeName of CLAIMED_STORES.filter((name) => !shared[name])) {
    const name = `The ${STORE_NAMES[storeName]} of the target (${target[storeName].kind})`;
    const claimedBy = await target[storeName].claimedBy();
    if (claimedBy !== undefined && claimedBy !== former && claimedBy !== id)
      throw new StoresDisagreeError(`${name} belongs to another PostgreSQL`);
    if (!(await isEmpty[storeName]())) throw notEmpty(name, storeName);
  }
  if (!shared.postgres) {
    const marker = { id, moving: true, moved_to: null };
    await db
      .insertInto('installation')
      .values(marker)
      .onConflict((conflict) => conflict.column('singleton').doUpdateSet(marker))
      .execute();
  }
  if (shared.graph) return;
  await graph.migrate();
  if (graph.kind === 'embedded')
    for (const table of ['graph_likes', 'graph_like_counts', 'graph_friendships'] as const)
      await db.deleteFrom(table).execute();
}

/** Lets a service start on the target, and then no longer on the source. */
async function switchOver({ source, target, shared }: MoveStores, id: string): Promise<void> {
  const copied: ClaimedStore[] = CLAIMED_STORES.filter((storeName) => !shared[storeName]);
  for (const storeName of copied) {
    await target[storeName].release();
    await target[storeName].claim(id);
  }
  const kinds = { graph: target.graph.kind, images: target.images.kind };
  await target.db
    .updateTable('installation')
    .set({ ...kinds, moving: false })
    .execute();
  if (!shared.postgres)
    await source.db.updateTable('installation').set({ moved_to: target.location.postgres }).execute();
  for (const storeName of copied) await source[storeName].release();
}

/** Returns whether a database contains no data of the service. */
async function isEmptyDatabase(db: Database): Promise<boolean> {
  if ((await findAppliedMigrations(db)).size === 0) return true;
  const rows = await db
    .selectFrom('accounts')
    .select('id')
    .unionAll(db.selectFrom('posts').select('id'))
    .unionAll(db.selectFrom('outbox').select('id'))
    .limit(1)
    .execute();
  return rows.length === 0;
}
