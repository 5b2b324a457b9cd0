import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { sql } from 'kysely';
import type { ImageFile } from './images/index.js';
import { STATEMENT_TIME } from './postgres/clock.js';
import type { Database } from './postgres/index.js';
import type { PostFields } from './posts.js';

/*
 * Idempotency keys: a client that repeats a request for a new post with the same key gets the first response again.
 *
 * The statement that creates the post also inserts a row for the key, so after a crash either both or neither exist.
 * While a request is in progress, its row is not yet visible to other requests. The request therefore holds an advisory lock on
 * the key, which PostgreSQL releases when the transaction ends, even after a crash.
 *
 * The row stores the fields of the first response, because the post may be edited or deleted before the request is repeated.
 * Title and text are not stored: they are taken from the repeated form, whose hash must be the same.
 */

/** A form for a new post. */
interface PostForm {
  author: number;
  title: string;
  text: string;
  image: ImageFile | undefined;
  idempotencyKey: string | undefined;
}

/** A request with an idempotency key. */
export interface KeyedRequest {
  key: string;
  form: PostForm;
  /** SHA-256 of the fields of the form, in base64url. */
  formHash: string;
}

/** The time 24 hours ago. Keys that were created then or earlier have expired. */
const EXPIRED_BEFORE = sql<string>`${STATEMENT_TIME} - interval '24 hours'`;

/** Computes the hash of a form with an idempotency key. Returns undefined if it has none. */
export async function keyedRequest(form: PostForm): Promise<KeyedRequest | undefined> {
  const { title, text, image, idempotencyKey: key } = form;
  if (key === undefined) return undefined;
  const hash = createHash('sha256').update(JSON.stringify([title, text, image?.mediaType]));
  if (image) for await (const chunk of createReadStream(image.path)) hash.update(chunk);
  return { key, form, formHash: hash.digest('base64url') };
}

/** Returns the outcome of an earlier request with this key, or undefined if there was none in the last 24 hours. */
export async function findEarlierCreation(
  db: Database,
  { key, form: { author, title, text }, formHash }: KeyedRequest,
): Promise<{ outcome: 'created'; post: PostFields } | { outcome: 'keyReused' } | undefined> {
  const row = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('account_id', '=', author)
    .where('key', '=', key)
    .where('created_at', '>', EXPIRED_BEFORE)
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.form_hash !== formHash) return { outcome: 'keyReused' };
  const { post_id: id, image, author_username, created_at } = row;
  return { outcome: 'created', post: { id, title, text, image, author_id: author, author_username, created_at } };
}

/** The parts of the statement that creates a post which `insertKey` reads. */
type NewPostTables = { post: Omit<PostFields, 'author_username'>; author: { username: string } };

/** Builds a query that inserts the row of a key, or replaces the row of an expired key, if the request has a key. */
export const insertKey = (db: Database, request: KeyedRequest | undefined) =>
  db
    .withTables<NewPostTables>()
    .insertInto('idempotency_keys')
    .columns(['account_id', 'key', 'form_hash', 'post_id', 'image', 'author_username', 'created_at'])
    .expression(({ selectFrom }) =>
      selectFrom(['post', 'author'])
        .select(({ val }) => [
          'post.author_id',
          val(request?.key ?? '').as('key'),
          val(request?.formHash ?? '').as('form_hash'),
          'post.id',
          'post.image',
          'author.username',
          'post.created_at',
        ])
        .where(({ lit }) => lit(request !== undefined)),
    )
    // The only possible conflict is with an expired key that has not been purged yet.
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'key']).doUpdateSet(({ ref }) => ({
        form_hash: ref('excluded.form_hash'),
        post_id: ref('excluded.post_id'),
        image: ref('excluded.image'),
        author_username: ref('excluded.author_username'),
        created_at: ref('excluded.created_at'),
      })),
    );

export async function purgeExpiredKeys(db: Database): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('created_at', '<=', EXPIRED_BEFORE).execute();
}
