import { sql } from 'kysely';
import { findCredentials } from './accounts.js';
import type { SocialGraph } from './graph/index.js';
import { findEarlierCreation, insertKey, type KeyedRequest, keyedRequest } from './idempotency-keys.js';
import type { ImageFile } from './images/index.js';
import { logged, type OperatorAction } from './operator-log.js';
import { enqueue, entriesOf, imageReferences, type WithEntries } from './outbox/entries.js';
import type { Outbox } from './outbox/index.js';
import {
  claimableImage,
  claimDeadlinePassed,
  claimImage,
  completeWrite,
  type ImageWriteStores,
  type PendingImage,
  storeImage,
} from './outbox/pending-images.js';
import { NOW } from './postgres/clock.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { ownPostLocks, sharedLocks, tryLock } from './postgres/locks.js';
import type { PostFields } from './posts.js';
import { changeStoredBytes } from './storage-quota.js';

/*
 * Writes of posts. Each is one function that a handler calls: it checks, stores the image, writes the rows and delivers their
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
 * Creates a post, with one statement. With an idempotency key, it runs in a transaction that also looks for an earlier request.
 *
 * @throws StoreUnavailableError also if the image can no longer be claimed: see `pending-images.ts`
 */
export async function createPost(stores: PostWriteStores, post: NewPost): Promise<PostCreation> {
  const request = await keyedRequest(post);
  const image = post.image && (await storeImage(stores, post.image));
  const insert = (db: Database) => insertPost(db, stores.graph, post, image, request);
  const creation = request
    ? stores.db.transaction().execute(async (trx) => (await findEarlier(trx, request)) ?? insert(trx))
    : insert(stores.db);
  return completeWrite(stores, image, creation);
}

/** Locks the key of a request. Returns the outcome if an earlier request had the key. */
async function findEarlier(trx: DatabaseTransaction, request: KeyedRequest): Promise<PostCreation | undefined> {
  if (!(await tryLock(trx, `${request.form.author} ${request.key}`))) return { outcome: 'inProgress' };
  // Not in one statement with the lock, because its snapshot would be older than the lock.
  return findEarlierCreation(trx, request);
}

/**
 * Inserts a post with its key and outbox entry, claims its image, and adds the image to the stored bytes, unless the author's
 * account is deleted. The statement waits for the lock of a deletion. Its snapshot is older than the lock, so it also locks the
 * account's row: PostgreSQL then looks at the row again, and finds it deleted.
 */
async function insertPost(
  db: Database,
  graph: PostWriteStores['graph'],
  { author, title, text, storageMaxBytes }: NewPost,
  image: PendingImage | undefined,
  request: KeyedRequest | undefined,
): Promise<WithEntries<PostCreation>> {
  const row = await db
    .with('lock', () => sql<object>`(${sharedLocks({ accounts: [author] })})`)
    .with('author', (creator) =>
      image
        ? creator
            .updateTable('accounts')
            .from(['lock', claimableImage(db, image).forUpdate().as('claimable')])
            .set((eb) => ({ stored_bytes: eb('stored_bytes', '+', image.bytes) }))
            .where('accounts.id', '=', author)
            .where('stored_bytes', '<=', storageMaxBytes - image.bytes)
            .returning(['accounts.id', 'accounts.username'])
        : creator
            .selectFrom(['lock', 'accounts'])
            .select(['accounts.id', 'accounts.username'])
            .where('accounts.id', '=', author)
            .forKeyShare('accounts'),
    )
    .with('claimed', (creator) =>
      creator
        .deleteFrom('outbox')
        .using('author')
        .where((eb) => eb('outbox.id', '=', eb.fn.any(eb.val(image ? [image.entryId] : [])))),
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
    .with('key', () => insertKey(db, request))
    .with('entry', () => entriesOf(sql`select 'post', id::text from post where ${sql.lit(graph.hasNodes)}`))
    .selectFrom(['post', 'author'])
    .leftJoin('entry', (join) => join.onTrue())
    .selectAll('post')
    .select(['author.username as author_username', 'entry.id as entry_id'])
    .executeTakeFirst();
  if (!row) return { outcome: await findRefusal(db, author, image) };
  const { entry_id, ...post } = row;
  const entries = entry_id === null ? [] : [{ id: entry_id, kind: 'post', key: String(post.id) } as const];
  return { outcome: 'created', post, entries };
}

/** Returns why a post was not inserted. @throws StoreUnavailableError if its image can no longer be claimed */
async function findRefusal(
  db: Database,
  author: number,
  image: PendingImage | undefined,
): Promise<'accountDeleted' | 'quotaExceeded'> {
  if (!image || !(await findCredentials(db, { id: author }))) return 'accountDeleted';
  if (!(await claimableImage(db, image).executeTakeFirst())) throw claimDeadlinePassed();
  return 'quotaExceeded';
}

interface PostChange {
  title?: string | undefined;
  text?: string | undefined;
  /** A new image, or null to remove the current one. */
  image?: ImageFile | null | undefined;
  /** The storage quota of the author. */
  storageMaxBytes: number;
}

/** Returns whether the author has such a post. Does not wait for locks. */
async function hasPost(db: Database, author: number, id: number): Promise<boolean> {
  const query = db.selectFrom('posts').select('id').where('id', '=', id).where('author_id', '=', author);
  return (await query.executeTakeFirst()) !== undefined;
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
  // Checked first, so that no image is stored for an author who cannot edit the post.
  if (change.image && !(await hasPost(stores.db, author, id))) return { outcome: 'notFound' };
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
  // The row lock makes the second of two concurrent edits see the image of the first one.
  const old = await trx
    .with('lock', () => sql<object>`(${ownPostLocks(author, [id], 'shared')})`)
    .selectFrom(['lock', 'posts'])
    .select(['image', 'image_bytes'])
    .where('id', '=', id)
    .where('author_id', '=', author)
    .forUpdate('posts')
    .executeTakeFirst();
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

/**
 * Deletes those of the posts that are the author's, with their images and their nodes in the graph, with one statement. Returns
 * their number. If a post was edited while the statement waited for the locks, PostgreSQL looks at its row again.
 *
 * @param action the action of the operator, if any, to log: with the id of the post, if it is one
 */
export async function deletePosts(
  { db, outbox }: { db: Database; outbox: Outbox },
  author: number,
  ids: readonly number[],
  action?: OperatorAction,
): Promise<number> {
  const entries = await db
    // The lock is not taken for the post of another, whose likes it would block.
    .with('lock', () => sql<object>`(${ownPostLocks(author, ids, 'exclusive')})`)
    .with('deleted', (creator) =>
      creator
        .deleteFrom('posts')
        .using('lock')
        .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
        .where('author_id', '=', author)
        .returning(['id', 'image', 'image_bytes']),
    )
    .with('freed', (creator) =>
      creator.selectFrom('deleted').select(({ fn }) => fn.sum<number>('image_bytes').as('bytes')),
    )
    .with('account', (creator) =>
      creator
        .updateTable('accounts')
        .from('freed')
        .set(({ eb, ref }) => ({ stored_bytes: eb('stored_bytes', '-', ref('freed.bytes')) }))
        .where('accounts.id', '=', author)
        .where('freed.bytes', '>', 0),
    )
    .with('logged', () =>
      logged(
        action,
        sql`select ${author}::int8, case count(*) when 1 then min(id) end from deleted having count(*) > 0`,
      ),
    )
    .with('entry', () =>
      entriesOf(sql`
        select 'post', id::text from deleted
        union all
        select 'image', image from deleted where image is not null`),
    )
    .selectFrom('entry')
    .select(['id', 'kind', 'key'])
    .execute();
  await outbox.deliver(entries);
  return entries.filter(({ kind }) => kind === 'post').length;
}
