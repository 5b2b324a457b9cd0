import type { OutboxEntry } from './outbox/index.js';
import { secondsFromNow } from './postgres/clock.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { tryLock } from './postgres/locks.js';
import { createPost, type PostContent, type PostRow, type PostStores } from './posts.js';

/*
 * Idempotency keys: a client that repeats a request with the same key gets the first response again.
 *
 * The key's row is inserted in the transaction that creates the post, so a crash leaves both or neither. A request in
 * progress has no row: it holds an advisory lock, which is released with the transaction even after a crash. The row stores
 * the fields of the first response, since the post may have been edited or deleted when the request is repeated. Title and
 * text are taken from the repeated form, whose hash is the same.
 */

export interface KeyedRequest {
  account: number;
  key: string;
  /** A hash of the whole form. */
  formHash: string;
}

/** `created` may refer to a post that an earlier request created. Then `entries` is empty. */
export type PostCreation =
  | { outcome: 'created'; post: NewPost; entries: readonly OutboxEntry[] }
  | { outcome: 'otherForm' | 'inProgress' | 'accountDeleted' };

export type NewPost = Omit<PostRow, 'author_private'>;

/** The time 24 hours ago. Keys created then or earlier have expired. */
const EXPIRED_BEFORE = secondsFromNow(-24 * 60 * 60);

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
  if (row.form_hash !== formHash) return { outcome: 'otherForm' };
  const { post_id: id, image, author_username, created_at } = row;
  return {
    outcome: 'created',
    post: { id, title, text, image, author_id: account, author_username, created_at },
    entries: [],
  };
}

/**
 * Creates a post unless an earlier request with the same key did. While that request is still running, the outcome is
 * `inProgress`; this cannot happen with the embedded PostgreSQL, which runs one transaction at a time.
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
    // A separate statement: the snapshot of the locking statement is older than its lock.
    const earlier = await findEarlierCreation(trx, request, content);
    if (earlier) return earlier;
    const created = await createPost({ ...stores, db: trx }, request.account, content);
    if (!created) return { outcome: 'accountDeleted' };
    await insertKey(trx, request, created.post);
    return { outcome: 'created', ...created };
  });
}

async function insertKey(trx: DatabaseTransaction, { account, key, formHash }: KeyedRequest, post: NewPost) {
  const { id: post_id, image, author_username, created_at } = post;
  const values = { form_hash: formHash, post_id, image, author_username, created_at };
  await trx
    .insertInto('idempotency_keys')
    .values({ account_id: account, key, ...values })
    // The only possible conflict is an expired key that is not purged yet.
    .onConflict((conflict) => conflict.columns(['account_id', 'key']).doUpdateSet(values))
    .execute();
}

export async function purgeExpiredKeys(db: Database): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('created_at', '<=', EXPIRED_BEFORE).execute();
}
