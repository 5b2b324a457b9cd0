import type { SocialGraph } from './graph/index.js';
import type { ImageStore } from './images/index.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { raiseSequence, skipIds } from './postgres/sequences.js';

/** The stores that were named are not those that belong together. */
export class StoresDisagreeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StoresDisagree';
  }
}

/** Gives the installation its id, once and for all: the marks of the other stores must not outlive it. */
export async function createInstallation(db: Database): Promise<void> {
  await db
    .insertInto('installation')
    .defaultValues()
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

type Store = Pick<SocialGraph | ImageStore, 'kind' | 'claimedBy' | 'claim'>;
type Role = 'graph' | 'images';

const NAMES = { graph: 'social graph', images: 'image store' };

/**
 * Checks what PostgreSQL alone can tell: that nothing is being moved, and that these stores are of the kinds it belongs to.
 *
 * @throws StoresDisagree
 */
export async function checkInstallation(db: Database, stores: Partial<Record<Role, Store>>): Promise<Installation> {
  const installation = await db.selectFrom('installation').selectAll().executeTakeFirstOrThrow();
  if (installation.moving) {
    throw new StoresDisagreeError('A move into these stores has not been finished: run it again');
  }
  if (installation.changing) {
    throw new StoresDisagreeError(
      'A move to another graph or image store has not been finished: run it again, or a move to those of before',
    );
  }
  if (installation.moved_to !== null) {
    throw new StoresDisagreeError(
      `Everything here was moved to ${installation.moved_to} and lives on there; npm run move brings it from there into empty stores`,
    );
  }
  for (const role of ['graph', 'images'] as const) {
    const [remembered, kind] = [installation[role], stores[role]?.kind];
    if (kind !== undefined && remembered !== null && remembered !== kind) {
      throw new StoresDisagreeError(
        `PostgreSQL belongs to the ${NAMES[role]} of kind ${remembered}, and another, ${kind}, is configured; npm run move carries everything over`,
      );
    }
  }
  return installation;
}

/**
 * Makes sure that this graph belongs to PostgreSQL, and marks it if it is new. Nobody's friends and likes vanish, and nobody
 * inherits another's, by a variable that was changed.
 *
 * @throws StoresDisagree
 */
export async function joinGraph(trx: DatabaseTransaction, graph: SocialGraph): Promise<void> {
  await joinStore(trx, 'graph', graph);
  // A backup may have brought back a PostgreSQL older than the graph: no new post may inherit the likes of an old one.
  const { person, post } = await graph.highestIds();
  await raiseSequence(trx, 'accounts', person);
  await raiseSequence(trx, 'posts', post);
}

/** Does the same for the images. @throws StoresDisagree */
export async function joinImages(trx: DatabaseTransaction, images: ImageStore): Promise<void> {
  await joinStore(trx, 'images', images);
}

/** More than the rows that a restored backup of PostgreSQL may lack. Ids have room for nine billion of these steps. */
const RESERVED_IDS = 1_000_000;

/**
 * Skips ids while nobody can ask the graph which ones it knows: should a backup have brought back an older PostgreSQL, the
 * graph still has nodes of rows that came after it.
 */
export async function skipPossiblyUsedIds(trx: DatabaseTransaction): Promise<void> {
  await skipIds(trx, 'accounts', RESERVED_IDS);
  await skipIds(trx, 'posts', RESERVED_IDS);
}

interface Installation {
  id: string;
  graph: string | null;
  images: string | null;
}

async function joinStore(trx: DatabaseTransaction, role: Role, store: Store): Promise<void> {
  const installation = await checkInstallation(trx, { [role]: store });
  let owner = await store.claimedBy();
  if (owner === undefined && installation[role] === null) {
    await store.claim(installation.id);
    // Another one may have been quicker.
    owner = await store.claimedBy();
  }
  if (owner !== installation.id) {
    const named = `The ${NAMES[role]} (${store.kind})`;
    if (owner !== undefined) throw new StoresDisagreeError(`${named} belongs to another PostgreSQL`);
    throw new StoresDisagreeError(`${named} is not the one that PostgreSQL belongs to: it is unmarked`);
  }
  await trx
    .updateTable('installation')
    .set({ [role]: store.kind })
    .execute();
}
