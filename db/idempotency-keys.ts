import { after } from './postgres/clock.js';
import type { Database, DatabaseTransaction, Postgres } from './postgres/index.js';
import { tryLock } from './postgres/locks.js';
import { createPost, type PostContent, type PostRow } from './posts.js';

/**
 * Idempotency keys: a client that repeats a request with the same key gets the first response again.
 *
 * The key's row is inserted in the transaction that creates the post, so a crash leaves both or neither. That a request is
 * still in progress is no row but an advisory lock, which ends with the transaction, however that ends. The row holds what
 * the first response was made of, since the post may have been edited or deleted when the request is repeated; title and
 * text are not in it, since they are those of the repeated form.
 */
export interface KeyedRequest {
  account: number;
  key: string;
  /** Equal for equal forms. */
  formHash: string;
}

/** `created` also stands for a post that an earlier request has created; then there is nothing left to deliver. */
export type PostCreation =
  | { outcome: 'created'; post: NewPost; entries: readonly number[] }
  | { outcome: 'otherForm' | 'inProgress' | 'accountDeleted' };

export type NewPost = Omit<PostRow, 'author_private'>;

/** Keys live for 24 hours from the creation of their post: those of posts up to this time have expired. */
const OLDEST = after(-24 * 60 * 60);

/** Returns what an earlier request with this key came to, or undefined when there was none in the key's lifetime. */
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
    .where('created_at', '>', OLDEST)
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
 * Creates a post unless an earlier request with the same key has. Of two at the same time, the second one finds the first
 * one's post or, while that is being created, is `inProgress`; the embedded PostgreSQL runs one transaction at a time, so
 * there it always finds the post.
 *
 * @throws StorageQuotaExceededError
 * @throws StoreUnavailable when the image took so long that its bytes are being removed
 */
export async function createPostOnce(
  { db, statementTimeoutMs }: Pick<Postgres, 'db' | 'statementTimeoutMs'>,
  request: KeyedRequest,
  content: PostContent,
): Promise<PostCreation> {
  return db.transaction().execute(async (trx) => {
    if (!(await tryLock(trx, `${request.account} ${request.key}`))) return { outcome: 'inProgress' };
    // Not in the statement that locks: one sees only what was committed before it began.
    const earlier = await findEarlierCreation(trx, request, content);
    if (earlier) return earlier;
    const created = await createPost({ db: trx, statementTimeoutMs }, request.account, content);
    if (!created) return { outcome: 'accountDeleted' };
    await remember(trx, request, created.post);
    return { outcome: 'created', ...created };
  });
}

async function remember(trx: DatabaseTransaction, { account, key, formHash }: KeyedRequest, post: NewPost) {
  const { id: post_id, image, author_username, created_at } = post;
  const values = { form_hash: formHash, post_id, image, author_username, created_at };
  await trx
    .insertInto('idempotency_keys')
    .values({ account_id: account, key, ...values })
    // An expired one, which has not been purged yet.
    .onConflict((conflict) => conflict.columns(['account_id', 'key']).doUpdateSet(values))
    .execute();
}

export async function purgeExpiredKeys(db: Database): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('created_at', '<=', OLDEST).execute();
}
