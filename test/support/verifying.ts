import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createAccount, deleteAccount, findCredentials } from '../../db/accounts.js';
import type { Edges } from '../../db/graph/index.js';
import { type EntityReference, enqueue } from '../../db/outbox/index.js';
import { withPendingImage } from '../../db/outbox/pending-images.js';
import { createPost } from '../../db/posts.js';
import type { Stores } from '../../db/stores.js';
import { type Verdict, verify } from '../../scripts/verify/verify.js';
import { emptyGraph, freshStores, onServices, openTestStores, quiet } from './stores.js';

/** Small, so that there is more than one page of everything. */
const PAGE = 2;

/** A graph of its own too: the real ones are one and the same, and a check looks at all of it. */
export async function emptyStores(t: Test): Promise<NodeJS.ProcessEnv> {
  if (onServices) await emptyGraph();
  return freshStores(t);
}

/** Open stores, without a relay that mends what a test breaks. */
export async function openQuietly(t: Test, environment?: NodeJS.ProcessEnv): Promise<Stores> {
  const stores = await openTestStores(t, environment ?? (await emptyStores(t)));
  await stores.outbox.stop();
  return stores;
}

export const inspect = (stores: Stores, repair = false) => verify(stores, { repair, log: quiet, pageSize: PAGE });

/** What does not hold, by rule: how many, how many of them mended, and the examples. */
export const broken = ({ findings }: Verdict) =>
  Object.fromEntries(
    findings
      .filter(({ found }) => found > 0)
      .map(({ name, found, mended, examples }) => [name, { found, mended, examples }]),
  );

/** What the stores hold, made as the service makes it. */
export function population(stores: Stores) {
  const { db, outbox, images, directory } = stores;
  let made = 0;
  const upload = async () => {
    const path = join(directory.uploads, randomBytes(8).toString('hex'));
    await writeFile(path, 'bytes');
    return { path, extension: 'png', bytes: 5, storageMaxBytes: 1000 };
  };
  return {
    async account(): Promise<number> {
      made += 1;
      const name = `somebody${made}`;
      const created = await createAccount(db, {
        name,
        username: name,
        email: `${name}@x.example`,
        passwordHash: 'hash',
      });
      await outbox.deliver(created?.entries ?? []);
      return created?.id ?? 0;
    },
    async post(author: number): Promise<number> {
      const created = await createPost(stores, author, { title: 'A title', text: 'A text' });
      await outbox.deliver(created?.entries ?? []);
      return created?.post.id ?? 0;
    },
    async imaged(author: number): Promise<{ id: number; image: string }> {
      const created = await withPendingImage(stores, await upload(), (image) =>
        createPost(stores, author, { title: 'A title', text: 'A text', image }),
      );
      await outbox.deliver(created?.entries ?? []);
      return { id: created?.post.id ?? 0, image: created?.post.image ?? '' };
    },
    /** Bytes that nothing names. */
    async stored(name = `${randomBytes(16).toString('hex')}.png`): Promise<string> {
      await images.put(name, (await upload()).path);
      return name;
    },
    async deleteAccount(id: number): Promise<void> {
      const secret = await findCredentials(db, { id });
      await outbox.deliver((secret && (await deleteAccount(db, secret))) ?? []);
    },
    record: (things: EntityReference[]) => db.transaction().execute((trx) => enqueue(trx, things)),
    upload,
  };
}

export async function times<Item>(count: number, make: () => Promise<Item>): Promise<Item[]> {
  const items = [];
  for (let index = 0; index < count; index += 1) items.push(await make());
  return items;
}

/** For tests of what only a real graph can hold. */
export const halves = onServices ? {} : { skip: 'the tables of the embedded graph can hold no such tie' };
export const nodes = onServices ? {} : { skip: 'the embedded graph has no nodes beside its ties' };

export const NO_TIES: Edges = { friendships: [], requests: [], likes: [] };
