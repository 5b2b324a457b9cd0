import { type ExpressionBuilder, sql } from 'kysely';
import { findCredentials } from './accounts.js';
import type { SocialGraph } from './graph/index.js';
import { findEarlierCreation, insertKey, type KeyedRequest, keyedRequest } from './idempotency-keys.js';
import type { ImageFile } from './images/index.js';
import { enqueue, imageReferences, type WithEntries } from './outbox/entries.js';
import type { Outbox } from './outbox/index.js';
import {
  claimImage,
  completeWrite,
  type ImageWriteStores,
  type PendingImage,
  storeImage,
} from './outbox/pending-images.js';
import { NOW } from './postgres/clock.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockExclusive, lockShared, sharedLocks, tryLock } from './postgres/locks.js';
import type { PostFields } from './posts.js';
import type { Tables } from './schema.js';
import { changeStoredBytes } from './storage-quota.js';

/*
 * Writes of posts. Each is one function that a handler calls: it checks, stores the image, runs the transaction and delivers its
 * outbox entries.
 */

interface NewPost {
  author: number;
  title: string;
  text: string;
  image: ImageFile | undefined;
  /** If an earlier request had the same key, its response is repeated: see `idempotency-keys.ts`. */
  idempotencyKey: string | undefined;
  /** The storage quota of the author. */
  storageMaxBytes: number;
}

interface PostWriteStores extends ImageWriteStores {
  graph: Pick<SocialGraph, 'hasNodes'>;
}

/**
 * `created`: this request created the post, or an earlier one with the same key did. In the second case, the post may have been
 * edited or deleted since. `keyReused`: an earlier request used the key with another form. `inProgress`: an earlier request with
 * the key is still running. With the embedded PostgreSQL, which runs one transaction at a time, this request waits instead.
 */
export type PostCreation =
  | { outcome: 'created'; post: PostFields }
  | { outcome: 'keyReused' | 'inProgress' | 'quotaExceeded' | 'accountDeleted' };

/**
 * Creates a post, with one statement. It runs in a transaction only if the request has an image to claim, or a key that an
 * earlier request may have used.
 *
 * @throws StoreUnavailableError also if the image can no longer be claimed: see `claimImage`
 */
export async function createPost(stores: PostWriteStores, post: NewPost): Promise<PostCreation> {
  const request = await keyedRequest(post);
  const image = post.image && (await storeImage(stores, post.image));
  const insert = (db: Database) => insertPost(db, stores.graph, post, image, request);
  const creation =
    image || request
      ? stores.db.transaction().execute(async (trx) => (await prepare(trx, post, image, request)) ?? insert(trx))
      : insert(stores.db);
  return completeWrite(stores, image, creation);
}

/** Claims the key and the image of a post. Returns the outcome if an earlier request had the key, or if the post is refused. */
async function prepare(
  trx: DatabaseTransaction,
  { author, storageMaxBytes }: NewPost,
  image: PendingImage | undefined,
  request: KeyedRequest | undefined,
): Promise<PostCreation | undefined> {
  if (request) {
    if (!(await tryLock(trx, `${author} ${request.key}`))) return { outcome: 'inProgress' };
    // Not in one statement with the lock, because its snapshot would be older than the lock.
    const earlier = await findEarlierCreation(trx, request);
    if (earlier) return earlier;
  }
  if (image) {
    await lockShared(trx, { accounts: [author] });
    const change = { account: author, bytes: image.bytes, maxBytes: storageMaxBytes };
    if (!(await changeStoredBytes(trx, change)))
      return { outcome: (await findCredentials(trx, { id: author })) ? 'quotaExceeded' : 'accountDeleted' };
    await claimImage(trx, image);
  }
  return undefined;
}

/**
 * Inserts a post with its outbox entry, unless its author's account is deleted. The statement waits for the lock of a deletion.
 * Its snapshot is older than the lock, so it also locks the account's row: PostgreSQL then looks at the row again, and finds it
 * deleted.
 */
async function insertPost(
  db: Database,
  graph: PostWriteStores['graph'],
  { author, title, text }: NewPost,
  image: PendingImage | undefined,
  request: KeyedRequest | undefined,
): Promise<WithEntries<PostCreation>> {
  const row = await db
    .with('lock', () => sql<object>`(${sharedLocks({ accounts: [author] })})`)
    .with('author', (creator) =>
      creator
        .selectFrom(['lock', 'accounts'])
        .select(['accounts.id', 'accounts.username'])
        .where('accounts.id', '=', author)
        .forKeyShare('accounts'),
    )
    .with('post', (creator) =>
      creator
        .insertInto('posts')
        .columns(['author_id', 'title', 'text', 'image', 'image_bytes', 'created_at'])
        .expression(({ selectFrom }) =>
          selectFrom('author').select(({ val }) => [
            'author.id',
            val(title).as('title'),
            val(text).as('text'),
            val(image?.name ?? null).as('image'),
            val(image?.bytes ?? 0).as('image_bytes'),
            NOW.as('created_at'),
          ]),
        )
        .returning(['id', 'title', 'text', 'image', 'author_id', 'created_at']),
    )
    .with('entry', (creator) =>
      creator
        .insertInto('outbox')
        .columns(['kind', 'key'])
        .expression(({ selectFrom }) =>
          selectFrom('post')
            .select(({ val, cast }) => [val('post').as('kind'), cast<string>('post.id', 'text').as('key')])
            .where(({ lit }) => lit(graph.hasNodes)),
        )
        .returning(['id', 'kind', 'key']),
    )
    .selectFrom(['post', 'author'])
    .leftJoin('entry', (join) => join.onTrue())
    .selectAll('post')
    .select(['author.username as author_username', 'entry.id as entry_id'])
    .executeTakeFirst();
  if (!row) return { outcome: 'accountDeleted' };
  const { entry_id, ...post } = row;
  if (request) await insertKey(db, request, post);
  const entries = entry_id === null ? [] : [{ id: entry_id, kind: 'post', key: String(post.id) } as const];
  return { outcome: 'created', post, entries };
}

interface PostChange {
  title?: string | undefined;
  text?: string | undefined;
  /** A new image, or null to remove the current one. */
  image?: ImageFile | null | undefined;
  /** The storage quota of the author. */
  storageMaxBytes: number;
}

const isOwn =
  (author: number, id: number) =>
  ({ and }: ExpressionBuilder<Tables, 'posts'>) =>
    and({ id, author_id: author });

/** Returns whether the author has such a post. Does not wait for locks. */
async function hasPost(db: Database, author: number, id: number): Promise<boolean> {
  return (await db.selectFrom('posts').select('id').where(isOwn(author, id)).executeTakeFirst()) !== undefined;
}

type PostUpdate = { outcome: 'updated' | 'quotaExceeded' | 'notFound' };

/**
 * Updates a post.
 *
 * @throws StoreUnavailableError also if the image can no longer be claimed: see `claimImage`
 */
export async function updatePost(
  stores: ImageWriteStores,
  author: number,
  id: number,
  change: PostChange,
): Promise<PostUpdate> {
  // Checked first, so that no image is stored, and no post is locked, for an author who cannot edit the post.
  if (!(await hasPost(stores.db, author, id))) return { outcome: 'notFound' };
  const image = change.image && (await storeImage(stores, change.image));
  const transaction = stores.db
    .transaction()
    .execute((trx) => updateInTransaction(trx, author, id, { ...change, image }));
  return completeWrite(stores, image, transaction);
}

async function updateInTransaction(
  trx: DatabaseTransaction,
  author: number,
  id: number,
  { title, text, image, storageMaxBytes }: Omit<PostChange, 'image'> & { image?: PendingImage | null | undefined },
): Promise<WithEntries<PostUpdate>> {
  await lockShared(trx, { accounts: [author], posts: [id] });
  // The row lock makes the second of two concurrent edits see the image of the first one.
  const query = trx.selectFrom('posts').select(['image', 'image_bytes']).where(isOwn(author, id));
  const old = await query.forUpdate().executeTakeFirst();
  if (!old) return { outcome: 'notFound' };
  if (image !== undefined) {
    const growth = { account: author, bytes: (image?.bytes ?? 0) - old.image_bytes, maxBytes: storageMaxBytes };
    if (!(await changeStoredBytes(trx, growth))) return { outcome: 'quotaExceeded' };
  }
  if (image) await claimImage(trx, image);
  await trx
    .updateTable('posts')
    // Kysely omits undefined columns. `id` is set to its own value, because a SET clause must not be empty.
    .set({
      title,
      text,
      ...(image !== undefined && { image: image?.name ?? null, image_bytes: image?.bytes ?? 0 }),
      id,
    })
    .where('id', '=', id)
    .execute();
  return { outcome: 'updated', entries: image === undefined ? [] : await enqueue(trx, imageReferences(old.image)) };
}

/** Deletes a post with its image and its node in the graph. Returns false if the author has no such post. */
export async function deletePost(
  { db, outbox }: { db: Database; outbox: Outbox },
  author: number,
  id: number,
): Promise<boolean> {
  // Checked before the exclusive lock is taken. Otherwise a user could block likes of the posts of others, and the wait for the
  // lock would reveal that a post exists.
  if (!(await hasPost(db, author, id))) return false;
  const entries = await db.transaction().execute(async (trx) => {
    // The account is locked first. Otherwise this transaction could deadlock with the deletion of the account, which locks the
    // account's row before the rows of its posts.
    await lockShared(trx, { accounts: [author] });
    await lockExclusive(trx, { posts: [id] });
    const deletion = trx.deleteFrom('posts').where(isOwn(author, id)).returning(['image', 'image_bytes']);
    const post = await deletion.executeTakeFirst();
    if (!post) return undefined;
    await changeStoredBytes(trx, { account: author, bytes: -post.image_bytes, maxBytes: 0 });
    return enqueue(trx, [{ kind: 'post', key: id }, ...imageReferences(post.image)]);
  });
  await outbox.deliver(entries ?? []);
  return entries !== undefined;
}
