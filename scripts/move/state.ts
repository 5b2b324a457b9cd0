import {
  CLAIMED_STORES,
  type ClaimedStore,
  type Installation,
  readInstallation,
  STORE_NAMES,
  StoresDisagreeError,
} from '../../db/installation.js';
import { migrate, migratePostgres } from '../../db/migrate.js';
import * as graph from './graph.js';
import * as images from './images.js';
import * as rows from './rows.js';
import type { MoveStores, StoreSet } from './stores.js';

/*
 * A move is recorded in the table `installation` of both databases and in the claims of the stores, so that it can be
 * interrupted anywhere and no service starts on half-filled stores:
 *
 *   1. `checkPreconditions` only reads, except for the migrations that the service would also run at startup.
 *   2. `beginMove` sets `moving` on the target (or `changing`, if both use the same PostgreSQL) and claims the target's
 *      stores with a temporary marker.
 *   3. The data is copied and compared.
 *   4. `finishMove` sets `moved_to` on the source (unless both use the same PostgreSQL), releases its stores, claims the
 *      target's stores, and clears the flags of the target last. Only then does a service start on the target.
 */

/** Returns the marker that claims a store while it is being filled. No service accepts it. */
const fillingMarker = (id: string) => `moving ${id}`;

/**
 * Checks that the source stores belong together, and that the target is empty or partly filled from the same source.
 *
 * @returns the id of the installation to move, or undefined if it was already moved to the target
 * @throws StoresDisagreeError
 */
export async function checkPreconditions({ source, target, shared }: MoveStores): Promise<string | undefined> {
  const installation = await prepareSource(source);
  const targetInstallation = shared.postgres ? installation : await readInstallation(target.db);
  const { id } = installation;
  const mayBeComplete = shared.postgres || installation.moved_to === target.location;
  if (mayBeComplete && (await isInstalledOn(target, targetInstallation, id))) return undefined;
  if (installation.moving)
    throw new StoresDisagreeError('The source is being filled by another move: finish that first');
  const resumed = shared.postgres ? installation.changing : targetInstallation?.id === id && targetInstallation.moving;
  if (!shared.postgres) {
    if (installation.changing)
      throw new StoresDisagreeError('Another move from the source is incomplete: finish that first');
    if (installation.moved_to !== null && !resumed) {
      throw new StoresDisagreeError(`The source was moved to ${installation.moved_to}`);
    }
    if (!resumed && (targetInstallation?.moving || !(await rows.isEmpty(target.db)))) {
      throw new StoresDisagreeError('The PostgreSQL of the target is not empty');
    }
  }
  const formerId = shared.postgres ? undefined : targetInstallation?.id;
  for (const storeName of CLAIMED_STORES) {
    await checkSource(storeName, source, installation, resumed);
    if (!shared[storeName]) await checkTarget(storeName, target, { id, resumed, formerId });
  }
  return id;
}

/** Returns whether a service could start on these stores as this installation. */
async function isInstalledOn(stores: StoreSet, installation: Installation | undefined, id: string): Promise<boolean> {
  if (installation?.id !== id || installation.moved_to !== null) return false;
  if (installation.moving || installation.changing) return false;
  for (const storeName of CLAIMED_STORES) {
    const store = stores[storeName];
    if (installation[storeName] !== store.kind || (await store.claimedBy()) !== id) return false;
  }
  return true;
}

async function checkSource(
  storeName: ClaimedStore,
  stores: StoreSet,
  installation: Installation,
  resumed: boolean,
): Promise<void> {
  const { kind } = stores[storeName];
  const claimedBy = await stores[storeName].claimedBy();
  // An interrupted `finishMove` may have released the store.
  if (installation[storeName] === kind && (claimedBy === installation.id || (resumed && claimedBy === undefined)))
    return;
  throw new StoresDisagreeError(
    `The ${STORE_NAMES[storeName]} of the source (${kind}) does not belong to its PostgreSQL`,
  );
}

interface TargetState {
  id: string;
  resumed: boolean;
  /** The id of the installation that last used the target, if any. */
  formerId: string | undefined;
}

async function checkTarget(
  storeName: ClaimedStore,
  stores: StoreSet,
  { id, resumed, formerId }: TargetState,
): Promise<void> {
  const { kind } = stores[storeName];
  // A graph in tables belongs to its database. Edges left from an earlier use by this installation are replaced.
  if (kind === 'embedded') return;
  const claimedBy = await stores[storeName].claimedBy();
  if (claimedBy === fillingMarker(id) || (resumed && claimedBy === id)) return;
  if (claimedBy !== undefined && claimedBy !== formerId) {
    throw new StoresDisagreeError(
      `The ${STORE_NAMES[storeName]} of the target (${kind}) belongs to another PostgreSQL`,
    );
  }
  const empty = storeName === 'graph' ? await graph.isEmpty(stores.graph) : await images.isEmpty(stores.images);
  if (!empty) throw new StoresDisagreeError(`The ${STORE_NAMES[storeName]} of the target (${kind}) is not empty`);
}

/** Migrates the target and marks it as being filled. */
export async function beginMove(id: string, { target, shared }: MoveStores): Promise<void> {
  if (!shared.postgres) await migratePostgres(target.db);
  for (const storeName of CLAIMED_STORES)
    if (!shared[storeName]) await claimStore(target[storeName], fillingMarker(id));
  if (!shared.graph) await target.graph.migrate();
  const state = shared.postgres ? { changing: true } : { id, moving: true, ...kindsOf(target) };
  await target.db
    .insertInto('installation')
    .values(state)
    .onConflict((conflict) => conflict.column('singleton').doUpdateSet(state))
    .execute();
}

/** Switches over to the target. The last write lets a service start on it. */
export async function finishMove(id: string, { source, target, shared }: MoveStores): Promise<void> {
  if (!shared.postgres) await source.db.updateTable('installation').set({ moved_to: target.location }).execute();
  for (const storeName of CLAIMED_STORES) if (!shared[storeName]) await source[storeName].release();
  for (const storeName of CLAIMED_STORES) await claimStore(target[storeName], id);
  await target.db
    .updateTable('installation')
    .set({ ...kindsOf(target), moving: false, changing: false })
    .execute();
}

async function claimStore(store: StoreSet[ClaimedStore], id: string): Promise<void> {
  await store.claim(id, await store.claimedBy());
}

const kindsOf = (stores: StoreSet) => ({ graph: stores.graph.kind, images: stores.images.kind });

/** Migrates the source and returns its installation. */
async function prepareSource({ db, graph, images }: StoreSet): Promise<Installation> {
  if (await rows.isEmpty(db)) throw new StoresDisagreeError('The source is empty');
  await migratePostgres(db);
  // Stores of an older version may not be claimed yet. Claims them as the service does at startup.
  const installation = await readInstallation(db);
  if (!installation?.graph) await migrate({ maintenanceDb: db, graph, images });
  return db.selectFrom('installation').selectAll().executeTakeFirstOrThrow();
}
