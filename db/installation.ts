import type { SocialGraph } from './graph/index.js';
import type { ImageStore } from './images/index.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { raiseSequence } from './sequences.js';

/** The stores that were named are not those that belong together. */
export class StoresDisagree extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StoresDisagree';
  }
}

/** Gives the installation its id, once and for all: the marks of the other stores must not outlive it. */
export async function foundInstallation(db: Database): Promise<void> {
  await db
    .insertInto('installation')
    .defaultValues()
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Makes sure that these stores belong together, and marks them if they are new. Nobody's friends, likes and pictures vanish,
 * and nobody inherits another's, by a variable that was changed.
 *
 * @throws StoresDisagree
 */
export async function joinStores(trx: DatabaseTransaction, graph: SocialGraph, images: ImageStore): Promise<void> {
  const installation = await trx.selectFrom('installation').selectAll().executeTakeFirstOrThrow();
  if (installation.moving) {
    throw new StoresDisagree('A move into these stores has not been finished: run it again');
  }
  if (installation.changing) {
    throw new StoresDisagree(
      'A move to another graph or image store has not been finished: run it again, or a move to those of before',
    );
  }
  if (installation.moved_to !== null) {
    throw new StoresDisagree(
      `Everything here was moved to ${installation.moved_to} and lives on there; npm run move brings it from there into empty stores`,
    );
  }
  await join('graph', graph, installation);
  await join('images', images, installation);
  await trx.updateTable('installation').set({ graph: graph.kind, images: images.kind }).execute();
  await raiseIds(trx, graph);
}

interface Installation {
  id: string;
  graph: string | null;
  images: string | null;
}

async function join(
  role: 'graph' | 'images',
  store: Pick<SocialGraph | ImageStore, 'kind' | 'owner' | 'own'>,
  installation: Installation,
): Promise<void> {
  const remembered = installation[role];
  const names = { graph: 'social graph', images: 'image store' };
  if (remembered !== null && remembered !== store.kind) {
    throw new StoresDisagree(
      `PostgreSQL belongs to the ${names[role]} of kind ${remembered}, and another, ${store.kind}, is configured; npm run move carries everything over`,
    );
  }
  let owner = await store.owner();
  if (owner === undefined && remembered === null) {
    await store.own(installation.id);
    // Another one may have been quicker.
    owner = await store.owner();
  }
  if (owner === installation.id) return;
  if (owner !== undefined) throw new StoresDisagree(`The ${names[role]} (${store.kind}) belongs to another PostgreSQL`);
  throw new StoresDisagree(
    `The ${names[role]} (${store.kind}) is not the one that PostgreSQL belongs to: it is unmarked`,
  );
}

/** A backup may have brought back a PostgreSQL older than the graph: no new post may inherit the likes of an old one. */
async function raiseIds(trx: DatabaseTransaction, graph: SocialGraph): Promise<void> {
  const { person, post } = await graph.highestIds();
  await raiseSequence(trx, 'accounts', person);
  await raiseSequence(trx, 'posts', post);
}
