import type { SocialGraph } from './graph/index.js';
import type { ImageStore } from './images/index.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { raiseSequence, skipIds } from './postgres/sequences.js';

/**
 * The installation: one PostgreSQL, one graph and one image store that belong together.
 *
 * PostgreSQL holds the installation's random id and the kinds of the other two stores. Each of these holds an installation
 * marker with the same id. A start compares them, so that a wrong connection variable fails with an error instead of mixing
 * the friends, likes and images of two installations. An unmarked store is claimed if PostgreSQL has no store of that role
 * yet. `npm run move` replaces a store; while it runs, flags in the installation's row keep the service from starting.
 */

/** The configured stores do not belong to the same installation. */
export class StoresDisagreeError extends Error {
  readonly code = 'stores_disagree';

  constructor(message: string) {
    super(message);
    this.name = 'StoresDisagreeError';
  }
}

/** Creates the installation with its id, unless it exists. The id never changes, since the markers contain it. */
export async function createInstallation(db: Database): Promise<void> {
  await db
    .insertInto('installation')
    .defaultValues()
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

type Store = Pick<SocialGraph | ImageStore, 'kind' | 'claimedBy' | 'claim'>;
type Role = 'graph' | 'images';

const STORE_NAMES = { graph: 'social graph', images: 'image store' };

/**
 * Checks that no move is unfinished and that the stores are of the expected kinds. Returns the installation. Reads PostgreSQL
 * only.
 *
 * @throws StoresDisagreeError
 */
export async function checkInstallation(
  db: Database,
  stores: Partial<Record<Role, Pick<Store, 'kind'>>>,
): Promise<Installation> {
  const installation = await db.selectFrom('installation').selectAll().executeTakeFirstOrThrow();
  if (installation.moving) {
    throw new StoresDisagreeError('A move into these stores has not been finished: run it again');
  }
  if (installation.changing) {
    throw new StoresDisagreeError(
      'A move to another graph or image store has not been finished: run it again, or move back to the previous ones',
    );
  }
  if (installation.moved_to !== null) {
    throw new StoresDisagreeError(
      `This installation was moved to ${installation.moved_to}; to bring it back, run npm run move into empty stores`,
    );
  }
  for (const role of ['graph', 'images'] as const) {
    const [expected, kind] = [installation[role], stores[role]?.kind];
    if (kind !== undefined && expected !== null && expected !== kind) {
      throw new StoresDisagreeError(
        `PostgreSQL belongs to the ${STORE_NAMES[role]} of kind ${expected}, but ${kind} is configured; to change it, use npm run move`,
      );
    }
  }
  return installation;
}

/**
 * Verifies that the graph belongs to this PostgreSQL, claims it if it is new, and skips the ids that it contains.
 *
 * @throws StoresDisagreeError
 */
export async function joinGraph(trx: DatabaseTransaction, graph: SocialGraph): Promise<void> {
  await joinStore(trx, 'graph', graph);
  // A PostgreSQL restored from a backup may be older than the graph: new rows must not reuse the ids of existing nodes.
  const { person, post } = await graph.highestIds();
  await raiseSequence(trx, 'accounts', person);
  await raiseSequence(trx, 'posts', post);
}

/** Verifies that the image store belongs to this PostgreSQL, and claims it if it is new. @throws StoresDisagreeError */
export async function joinImages(trx: DatabaseTransaction, images: ImageStore): Promise<void> {
  await joinStore(trx, 'images', images);
}

/** More than the rows that a restored backup of PostgreSQL may lack. 53-bit ids suffice for nine billion such steps. */
const RESERVED_IDS = 1_000_000;

/**
 * Skips ids that the unavailable graph may already contain: a PostgreSQL restored from a backup may be older than the graph.
 */
export async function skipPossiblyUsedIds(trx: DatabaseTransaction): Promise<void> {
  await skipIds(trx, 'accounts', RESERVED_IDS);
  await skipIds(trx, 'posts', RESERVED_IDS);
}

export interface Installation {
  id: string;
  graph: string | null;
  images: string | null;
}

async function joinStore(trx: DatabaseTransaction, role: Role, store: Store): Promise<void> {
  const installation = await checkInstallation(trx, { [role]: store });
  let claimedBy = await store.claimedBy();
  if (claimedBy === undefined && installation[role] === null) {
    await store.claim(installation.id);
    // Another process may have claimed it first.
    claimedBy = await store.claimedBy();
  }
  requireClaimedBy(installation, role, store.kind, claimedBy);
  await trx
    .updateTable('installation')
    .set({ [role]: store.kind })
    .execute();
}

/** Throws StoresDisagreeError unless this installation has claimed the store. */
export function requireClaimedBy(
  installation: Installation,
  role: Role,
  kind: Store['kind'],
  claimedBy: string | undefined,
): void {
  if (claimedBy === installation.id) return;
  const name = `The ${STORE_NAMES[role]} (${kind})`;
  if (claimedBy !== undefined) throw new StoresDisagreeError(`${name} belongs to another PostgreSQL`);
  throw new StoresDisagreeError(`${name} is not the one that PostgreSQL belongs to: it has no installation marker`);
}
