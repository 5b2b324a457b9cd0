import { type Selectable, sql } from 'kysely';
import type { SocialGraph } from '../graph/index.js';
import type { ImageStore } from '../images/index.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import type { InstallationTable } from '../schema.js';

/*
 * An installation consists of one PostgreSQL, one graph and one image store that belong together.
 *
 * PostgreSQL stores a random installation id, and the kinds of the other two stores. The graph and the image store each
 * contain an installation marker with the same id. The service compares the ids whenever it starts. If a connection variable
 * is wrong, the service does not start, instead of mixing the friends, likes and images of two installations.
 *
 * A new store has no marker. The first process that finds such a store claims it: it writes a marker, and records the kind
 * of the store in PostgreSQL. Once the kind is recorded, a store without a marker is the wrong store.
 *
 * `npm run move` replaces stores. Until it has finished, the target has no marker, and a PostgreSQL that is being filled is
 * flagged in the row of its installation, so that no service starts on the target.
 */

/** The configured stores do not belong to the same installation. */
export class StoresDisagreeError extends Error {
  override readonly name = 'StoresDisagreeError';
  readonly code = 'stores_disagree';
}

/** Creates the row of the installation with a random id, unless it exists. Only a move replaces the id. */
export async function createInstallation(db: Database): Promise<void> {
  await db
    .insertInto('installation')
    .defaultValues()
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export type Installation = Selectable<InstallationTable>;

/** Returns the installation, or undefined if PostgreSQL has never been migrated. */
export async function readInstallation(db: Database): Promise<Installation | undefined> {
  const { rows: tables } = await sql`select where to_regclass('installation') is not null`.execute(db);
  return tables.length > 0 ? db.selectFrom('installation').selectAll().executeTakeFirst() : undefined;
}

type Store = Pick<SocialGraph | ImageStore, 'kind' | 'claimedBy' | 'claim'>;

/** The stores that belong to a PostgreSQL, and contain an installation marker. */
export const CLAIMED_STORES = ['graph', 'images'] as const;
export type ClaimedStore = (typeof CLAIMED_STORES)[number];

/** The names of these stores in messages. */
export const STORE_NAMES = { graph: 'social graph', images: 'image store' };

/**
 * Checks that no move is unfinished and that the stores have the expected kinds. Reads only PostgreSQL. Returns the
 * installation.
 *
 * @throws StoresDisagreeError
 */
export async function checkInstallation(
  db: Database,
  stores: Partial<Record<ClaimedStore, Pick<Store, 'kind'>>>,
): Promise<Installation> {
  const installation = await db.selectFrom('installation').selectAll().executeTakeFirstOrThrow();
  requireMoveFinished(installation);
  requireNotMoved(installation);
  requireKinds(installation, stores);
  return installation;
}

/** Throws StoresDisagreeError if a move into these stores is unfinished. */
function requireMoveFinished(installation: Installation): void {
  if (installation.moving) {
    throw new StoresDisagreeError('A move into these stores has not been finished: empty them and run it again');
  }
}

/** Throws StoresDisagreeError if the installation was moved to another PostgreSQL. Its stores may have changed since. */
export function requireNotMoved(installation: Installation): void {
  if (installation.moved_to !== null) {
    throw new StoresDisagreeError(
      `This installation was moved to ${installation.moved_to}; to bring it back, run npm run move into empty stores`,
    );
  }
}

/** Throws StoresDisagreeError if the installation uses stores of other kinds. */
function requireKinds(installation: Installation, stores: Partial<Record<ClaimedStore, Pick<Store, 'kind'>>>): void {
  for (const storeName of CLAIMED_STORES) {
    const [expected, kind] = [installation[storeName], stores[storeName]?.kind];
    if (kind !== undefined && expected !== null && expected !== kind) {
      throw new StoresDisagreeError(
        `This installation uses the ${STORE_NAMES[storeName]} of kind ${expected}, but ${kind} is configured; to change it, use npm run move`,
      );
    }
  }
}

/**
 * Verifies that this installation has claimed a store, or claims the store if it is new. Records its kind.
 *
 * @throws StoresDisagreeError
 */
export async function verifyOrClaim(trx: DatabaseTransaction, storeName: ClaimedStore, store: Store): Promise<void> {
  const installation = await checkInstallation(trx, { [storeName]: store });
  let claimedBy = await store.claimedBy();
  if (claimedBy === undefined && installation[storeName] === null) {
    await store.claim(installation.id);
    // Read again: another process may have claimed it meanwhile. The graph keeps the first claim, an image store the last.
    claimedBy = await store.claimedBy();
  }
  requireClaimedBy(installation, storeName, store.kind, claimedBy);
  await trx
    .updateTable('installation')
    .set({ [storeName]: store.kind })
    .execute();
}

/** Throws StoresDisagreeError unless this installation has claimed the store. */
export function requireClaimedBy(
  installation: Installation,
  storeName: ClaimedStore,
  kind: Store['kind'],
  claimedBy: string | undefined,
): void {
  if (claimedBy === installation.id) return;
  const name = `The ${STORE_NAMES[storeName]} (${kind})`;
  if (claimedBy !== undefined) throw new StoresDisagreeError(`${name} belongs to another PostgreSQL`);
  throw new StoresDisagreeError(`${name} does not belong to this PostgreSQL: it has no installation marker`);
}
