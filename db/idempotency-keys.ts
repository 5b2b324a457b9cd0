import { sql } from 'kysely';
import type { OutboxEntry } from './outbox/entries.js';
import { STATEMENT_TIME } from './postgres/clock.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { tryLock } from './postgres/locks.js';
import { createPost, type PostContent, type PostFields, type PostStores } from './posts.js';

/*
 * Idempotency keys: a client that repeats a request for a new post with the same key gets the first response again.
 *
 * The transaction that creates the post also inserts a row for the key, so after a crash either both or neither exist.
 * While a request is in progress, its row is not yet visible to other requests. The request therefore holds an advisory lock on
 * the key, which PostgreSQL releases when the transaction ends, even after a crash.
 *
 * The row stores the fields of the first response, because the post may be edited or deleted before the request is repeated.
 * Title and text are not stored: they are taken from the repeated form, whose hash must be the same.
 */

interface KeyedRequest {
  account: number;
  key: string;
  /** A hash of all fields of the form. */
  formHash: string;
}

/**
 * The outcome of a request for a new post. `created`: this request created the post, or an earlier one with the same key did.
 * In the second case, `entries` is empty, and the post may have been edited or deleted since. `keyReused`: an earlier request
 * used the key with another form.
 */
export type PostCreation =
  | { outcome: 'created'; post: PostFields; entries: readonly OutboxEntry[] }
  | { outcome: 'keyReused' | 'inProgress' | 'accountDeleted' };

/** The time 24 hours ago. Keys that were created then or earlier have expired. */
const EXPIRED_BEFORE = sql<string>`${STATEMENT_TIME} - interval '24 hours'`;

/** Returns the outcome of an earlier request with this key, or undefined if there was none in the last 24 hours. */
export async function findEarlierCreation(
  db: Database,
  { account, key, formHash }: KeyedRequest,
  { title, text }: Pick<PostContent, 'title' | 'text'>,
): Promise<PostCreation | undefined> {
  const row = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('account_id', '=', account)
    .where('key', '=', key)
    .where('created_at', '>', EXPIRED_BEFORE)
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.form_hash !== formHash) return { outcome: 'keyReused' };
  const { post_id: id, image, author_username, created_at } = row;
  return {
    outcome: 'created',
    post: { id, title, text, image, author_id: account, author_username, created_at },
    entries: [],
  };
}

/**
 * Creates a post, unless an earlier request with the same key has created it. Returns `inProgress` while that request is still
 * running. With the embedded PostgreSQL, which runs one transaction at a time, the second request waits instead.
 *
 * @throws StorageQuotaExceededError
 * @throws StoreUnavailableError if the image can no longer be claimed: see `claimImage`
 */
export async function createPostOnce(
  stores: PostStores,
  request: KeyedRequest,
  content: PostContent,
): Promise<PostCreation> {
  return stores.db.transaction().execute(async (trx) => {
    if (!(await tryLock(trx, `${request.account} ${request.key}`))) return { outcome: 'inProgress' };
    // A separate statement, because the snapshot of the statement that takes the lock is older than the lock.
    const earlier = await findEarlierCreation(trx, request, content);
    if (earlier) return earlier;
    const created = await createPost({ ...stores, db: trx }, request.account, content);
    if (!created) return { outcome: 'accountDeleted' };
    await insertKey(trx, request, created.post);
    return { outcome: 'created', ...created };
  });
}

/** Inserts the row of a key, or replaces the row of an expired key. */
async function insertKey(trx: DatabaseTransaction, { account, key, formHash }: KeyedRequest, post: PostFields) {
  const { id: post_id, image, author_username, created_at } = post;
  const values = { form_hash: formHash, post_id, image, author_username, created_at };
  await trx
    .insertInto('idempotency_keys')
    .values({ account_id: account, key, ...values })
    // The only possible conflict is with an expired key that has not been purged yet.
    .onConflict((conflict) => conflict.columns(['account_id', 'key']).doUpdateSet(values))
    .execute();
}

export async function purgeExpiredKeys(db: Database): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('created_at', '<=', EXPIRED_BEFORE).execute();
}
