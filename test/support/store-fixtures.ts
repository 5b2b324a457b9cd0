import type { Test } from 'tap';
import { createAccount, deleteAccount, findCredentials } from '../../db/accounts.js';
import type { SocialGraph } from '../../db/graph/index.js';
import type { ImageFile } from '../../db/images/index.js';
import { type EntityReference, enqueue, type OutboxEntry } from '../../db/outbox/entries.js';
import { createPost, type PostCreation } from '../../db/post-writes.js';
import type { Stores } from '../../db/stores/index.js';
import { repair } from '../../scripts/verify/repair.js';
import { verify } from '../../scripts/verify/verify.js';
import { newImageName, writeUpload } from './image-store.js';
import { emptyGraph, freshStores, onServices, openTestStores, silentLog } from './stores.js';

/** Small, so that every check reads several pages. */
const PAGE_SIZE = 2;

/** Returns the variables of empty stores. Also empties a shared graph, since verification reads all of it. */
export async function emptyStores(t: Test): Promise<NodeJS.ProcessEnv> {
  if (onServices) await emptyGraph();
  return freshStores(t);
}

/** Opens stores without a relay, which would repair what a test breaks. */
export async function openStoresWithoutRelay(t: Test, environment?: NodeJS.ProcessEnv): Promise<Stores> {
  const stores = await openTestStores(t, environment ?? (await emptyStores(t)));
  await stores.outbox.stop();
  return stores;
}

/** Returns the ids and names that `npm run verify` finds, by the title of the finding. */
export async function findDifferences(stores: Stores): Promise<Record<string, (number | string)[]>> {
  const findings = await verify(stores, undefined, PAGE_SIZE);
  return Object.fromEntries(
    findings.filter(({ keys }) => keys.length > 0).map(({ title, keys }) => [title, keys.toSorted()]),
  );
}

/** Repairs what `npm run verify` finds. Returns the number of failures. */
export const repairStores = async (stores: Stores): Promise<number> =>
  repair(stores, await verify(stores, undefined, PAGE_SIZE), silentLog);

/** Returns the stores with an outbox that delivers nothing, and the entries that writes give it. */
export function withoutDelivery(stores: Stores): { stores: Stores; entries: OutboxEntry[] } {
  const entries: OutboxEntry[] = [];
  const deliver = async (delivered: readonly OutboxEntry[]) => void entries.push(...delivered);
  return { stores: { ...stores, outbox: { ...stores.outbox, deliver } }, entries };
}

/** The fields of a new post besides its author. */
export const POST = {
  title: 'A title',
  text: 'A text',
  image: undefined,
  idempotencyKey: undefined,
  storageMaxBytes: 1000,
};

/** Returns the post that `createPost` has created. */
export function postOf(creation: PostCreation) {
  if (creation.outcome !== 'created') throw new Error(`no post was created: ${creation.outcome}`);
  return creation.post;
}

/** Returns functions that create test data as the service does. */
export function createFixtures(stores: Stores) {
  const { db, images, directory } = stores;
  let accountCount = 0;
  const upload = async (): Promise<ImageFile> => {
    const path = await writeUpload(directory.uploads, Buffer.from('bytes'));
    return { path, extension: 'png', mediaType: 'image/png', bytes: 5 };
  };
  async function register(target: Stores): Promise<number> {
    accountCount += 1;
    const name = `user${accountCount}`;
    const registration = { name, username: name, email: `${name}@x.example`, passwordHash: 'hash' };
    const created = await createAccount(target, registration);
    if (created.outcome !== 'created') throw new Error('no account was created');
    return created.id;
  }
  return {
    account: () => register(stores),
    /** Creates an account without delivering its outbox entries, so that it has no node. */
    async accountWithoutNode(): Promise<{ id: number; entries: OutboxEntry[] }> {
      const undelivered = withoutDelivery(stores);
      const graph: SocialGraph = { ...stores.graph, hasNodes: true };
      return { id: await register({ ...undelivered.stores, graph }), entries: undelivered.entries };
    },
    async post(author: number): Promise<number> {
      return postOf(await createPost(stores, { ...POST, author })).id;
    },
    async postWithImage(author: number): Promise<{ id: number; image: string }> {
      const { id, image } = postOf(await createPost(stores, { ...POST, author, image: await upload() }));
      return { id, image: image ?? '' };
    },
    /** Stores an image that no row references. */
    async storeImage(name = newImageName()): Promise<string> {
      await images.put(name, (await upload()).path);
      return name;
    },
    async deleteAccount(id: number): Promise<void> {
      const credentials = await findCredentials(db, { id });
      if (credentials) await deleteAccount(stores, credentials);
    },
    enqueueEntries: (entities: EntityReference[]) => db.transaction().execute((trx) => enqueue(trx, entities)),
    upload,
  };
}

/** Calls a function repeatedly, one call at a time, and returns the results. */
export async function repeat<Item>(count: number, make: () => Promise<Item>): Promise<Item[]> {
  const items = [];
  for (let index = 0; index < count; index += 1) items.push(await make());
  return items;
}

/** Test options that skip a test if the graph has no nodes. */
export const needsNodes = onServices ? {} : { skip: 'the graph in tables has no nodes' };
