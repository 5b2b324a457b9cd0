import type { Test } from 'tap';
import { createAccount, deleteAccount, findCredentials } from '../../db/accounts.js';
import type { SocialGraph } from '../../db/graph/index.js';
import { type EntityReference, enqueue } from '../../db/outbox/entries.js';
import { withPendingImage } from '../../db/outbox/pending-images.js';
import { createPost } from '../../db/posts.js';
import type { Stores } from '../../db/stores.js';
import { type VerifyResult, verify } from '../../scripts/verify/verify.js';
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

export const verifyStores = (stores: Stores, repair = false) =>
  verify(stores, { repair, log: silentLog, pageSize: PAGE_SIZE });

/** Returns, by rule name, the numbers of violations found and repaired, and examples. */
export const findingsByRule = ({ findings }: VerifyResult) =>
  Object.fromEntries(
    findings
      .filter(({ found }) => found > 0)
      .map(({ name, found, repaired, examples }) => [name, { found, repaired, examples }]),
  );

/** Returns functions that create test data as the service does. */
export function createFixtures(stores: Stores) {
  const { db, graph, outbox, images, directory } = stores;
  let accountCount = 0;
  const upload = async () => {
    const path = await writeUpload(directory.uploads, Buffer.from('bytes'));
    return { path, extension: 'png', bytes: 5, storageMaxBytes: 1000 };
  };
  async function createUndelivered(graph: Pick<SocialGraph, 'hasNodes'>) {
    accountCount += 1;
    const name = `user${accountCount}`;
    const registration = { name, username: name, email: `${name}@x.example`, passwordHash: 'hash' };
    const created = await createAccount({ db, graph }, registration);
    if (created.outcome !== 'created') throw new Error('no account was created');
    return created;
  }
  return {
    async account(): Promise<number> {
      const { id, entries } = await createUndelivered(graph);
      await outbox.deliver(entries);
      return id;
    },
    /** Creates an account without delivering its outbox entries, so that it has no node. */
    accountWithoutNode: () => createUndelivered({ hasNodes: true }),
    async post(author: number): Promise<number> {
      const created = await createPost(stores, author, { title: 'A title', text: 'A text' });
      await outbox.deliver(created?.entries ?? []);
      return created?.post.id ?? 0;
    },
    async postWithImage(author: number): Promise<{ id: number; image: string }> {
      const created = await withPendingImage(stores, await upload(), (image) =>
        createPost(stores, author, { title: 'A title', text: 'A text', image }),
      );
      await outbox.deliver(created?.entries ?? []);
      return { id: created?.post.id ?? 0, image: created?.post.image ?? '' };
    },
    /** Stores an image that no row references. */
    async storeImage(name = newImageName()): Promise<string> {
      await images.put(name, (await upload()).path);
      return name;
    },
    async deleteAccount(id: number): Promise<void> {
      const credentials = await findCredentials(db, { id });
      const deletion = credentials && (await deleteAccount(db, credentials));
      if (deletion?.outcome === 'deleted') await outbox.deliver(deletion.entries);
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
