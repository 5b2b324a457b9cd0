import { type SqlBool, sql } from 'kysely';
import { enqueue, imageReferences, insertEntries } from './outbox/index.js';
import { claimImage, claimImageIf, type PendingImage } from './outbox/pending-images.js';
import type { Database, DatabaseTransaction, Postgres } from './postgres/index.js';
import { lockExclusive, lockShared, sharedLocksWithin } from './postgres/locks.js';
import { changeStoredBytes, StorageQuotaExceededError } from './storage-quota.js';
import { StoreUnavailableError } from './support/errors.js';
import { type Owner, publicOr } from './visibility.js';

/** A post with what its author's row says, which is null when that row is missing. */
export interface PostRow {
  id: number;
  title: string;
  text: string;
  image: string | null;
  author_id: number;
  /** RFC 3339, in UTC, with milliseconds. */
  created_at: string;
  author_username: string | null;
  author_private: boolean | null;
}

/** Whose post it is, as visibility asks. */
export const authorOf = (post: PostRow): Owner => ({ id: post.author_id, private: post.author_private });

export interface Page {
  limit: number;
  offset: number;
}

export function selectPosts(db: Database) {
  return db
    .selectFrom('posts')
    .leftJoin('accounts', 'accounts.id', 'posts.author_id')
    .select([
      'posts.id',
      'posts.title',
      'posts.text',
      'posts.image',
      'posts.author_id',
      'posts.created_at',
      'accounts.username as author_username',
      'accounts.private as author_private',
    ]);
}

export const newestFirst = sql`posts.created_at desc, posts.id desc`;

/**
 * Joins the author's `private` to each post and leaves the order of an index alone. Because of its limit the join is made
 * post by post, with each author's row remembered (Memoize). PostgreSQL plans a plain join with a sort of all posts, or looks
 * every author up again.
 */
export const withPrivacy = sql`
  left join lateral (select private from accounts where accounts.id = posts.author_id limit 1) author on true`;

/** An array of ids as a literal, for statements that are planned each time. */
export const idArray = (ids: readonly number[]) => sql`${sql.lit(`{${ids.join(',')}}`)}::int8[]`;

/** Those of these that are there, by their ids. */
export async function findPosts(db: Database, ids: readonly number[]): Promise<Map<number, PostRow>> {
  const rows = await selectPosts(db).where(sql<boolean>`posts.id = any(${ids}::int8[])`).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Who owns each of these posts. Reads no content: this decides who may see it. */
export async function findPostOwners(db: Database, ids: readonly number[]): Promise<Map<number, Owner>> {
  const rows = await db
    .selectFrom('posts')
    .leftJoin('accounts', 'accounts.id', 'posts.author_id')
    .select(['posts.id as post', 'posts.author_id as id', 'accounts.private'])
    .where(sql<boolean>`posts.id = any(${ids}::int8[])`)
    .execute();
  return new Map(rows.map(({ post, ...owner }) => [post, owner]));
}

/** Who owns the post with this image. Reads no content: this decides who may see it. */
export async function findPostImageOwner(db: Database, image: string): Promise<Owner | undefined> {
  return db
    .selectFrom('posts')
    .leftJoin('accounts', 'accounts.id', 'posts.author_id')
    .select(['posts.author_id as id', 'accounts.private'])
    .where('posts.image', '=', image)
    .executeTakeFirst();
}

export interface PostQuery {
  id: number;
  viewer: number;
}

/** A post that exists. `post` is undefined if only a friend of the owner may see it. */
export interface FoundPost {
  owner: Owner;
  post: PostRow | undefined;
}

/** No account has this id. */
const NO_VIEWER = 0;

/**
 * Returns one post or undefined for each question, in the order of the questions. A row carries content only if the viewer
 * may see it whoever their friends are, so that the time of a refusal does not depend on what is hidden. A private post for
 * which several viewers ask in one batch carries none, not even for its author.
 */
export async function findPostsPublicOrOwn(
  db: Database,
  questions: readonly PostQuery[],
): Promise<(FoundPost | undefined)[]> {
  const viewers = new Map<number, number>();
  for (const { id, viewer } of questions) {
    viewers.set(id, (viewers.get(id) ?? viewer) === viewer ? viewer : NO_VIEWER);
  }
  const isOpen = publicOr(sql`posts.author_id = question.viewer`);
  const ifOpen = (column: string) => sql`case when ${isOpen} then ${sql.ref(column)} end`;
  const { rows } = await sql<PostRow & { is_open: boolean }>`
    select posts.id, posts.author_id, accounts.private as author_private, ${isOpen} as is_open,
      ${ifOpen('posts.title')} as title, ${ifOpen('posts.text')} as text, ${ifOpen('posts.image')} as image,
      ${ifOpen('posts.created_at')} as created_at, ${ifOpen('accounts.username')} as author_username
    from unnest(${[...viewers.keys()]}::int8[], ${[...viewers.values()]}::int8[]) as question (id, viewer)
    join posts on posts.id = question.id
    left join accounts on accounts.id = posts.author_id`.execute(db);
  const found = new Map<number, FoundPost>();
  for (const { is_open, ...post } of rows) {
    found.set(post.id, { owner: authorOf(post), post: is_open ? post : undefined });
  }
  return questions.map(({ id }) => found.get(id));
}

export async function postsByAuthor(db: Database, author: number, { limit, offset }: Page): Promise<PostRow[]> {
  return selectPosts(db).where('author_id', '=', author).orderBy(newestFirst).limit(limit).offset(offset).execute();
}

export interface PostContent {
  title: string;
  text: string;
  image?: PendingImage | undefined;
}

/** `id` is null, and what else a post has with it, where the image does not fit or was not to be claimed. */
interface Created extends Omit<PostRow, 'id'> {
  id: number | null;
  entry: number;
  fits: boolean;
}

/**
 * It is one statement, whose look at the account is as old as its beginning; `for share` looks again once it has the locks.
 * Whatever is written reads `account`, and so waits for them too. Undefined when the author's account is gone.
 *
 * An image counts towards the account's quota. Then the account's row is locked for the update that follows: of two posts
 * at the same time the second one is checked against what the first one has left.
 *
 * @throws StorageQuotaExceededError
 * @throws StoreUnavailable when the image took so long that its bytes are being removed
 */
export async function createPost(
  { db, statementTimeoutMs }: Pick<Postgres, 'db' | 'statementTimeoutMs'>,
  author: number,
  { title, text, image }: PostContent,
): Promise<{ post: PostRow; entries: number[] } | undefined> {
  const { rows } = await sql<Created>`
    with locked as materialized (${sharedLocksWithin(statementTimeoutMs, { accounts: [author] })}),
    account as (
      select accounts.id, username as author_username, private as author_private,
        ${image ? sql`stored_bytes + ${image.bytes}::int8 <= ${image.storageMaxBytes}::int8` : sql`true`} as fits
      from locked, accounts
      where accounts.id = ${author} for ${image ? sql`no key update` : sql`share`} of accounts),
    claimed as (${image ? claimImageIf(image, sql`exists (select from account where fits)`) : sql`select`}),
    ${
      image
        ? sql`counted as (
      update accounts set stored_bytes = stored_bytes + ${image.bytes}::int8 from claimed where accounts.id = ${author}),`
        : sql``
    }
    post as (
      insert into posts (author_id, title, text, image, image_bytes)
      select account.id, ${title}::text, ${text}::text, ${image?.name ?? null}::text, ${image ? sql`${image.bytes}::int8` : sql`0`}
      from account, claimed
      returning id, title, text, image, author_id, created_at),
    entry as (${insertEntries(sql`select 'post', id::text from post`)})
    select post.id, title, text, image, author_id, created_at, author_username, author_private, fits,
      entry.id as entry
    from account left join (post cross join entry) on true`.execute(db);
  const [created] = rows;
  if (!created) return undefined;
  const { entry, id, fits, ...rest } = created;
  if (!fits) throw new StorageQuotaExceededError();
  if (id === null) throw new StoreUnavailableError('images');
  return { post: { ...rest, id }, entries: [entry] };
}

export interface PostChange {
  title?: string | undefined;
  text?: string | undefined;
  /** A new image, or null for none. */
  image?: PendingImage | null | undefined;
}

const isOwn = (author: number, id: number) => sql<SqlBool>`id = ${id} and author_id = ${author}`;

/** Whether the post exists and is this author's. Reads no content, and waits for no lock on another author's post. */
export async function isPostOf(db: Database, author: number, id: number): Promise<boolean> {
  const found = await db.selectFrom('posts').select('id').where(isOwn(author, id)).executeTakeFirst();
  return found !== undefined;
}

/**
 * Undefined when there is no such post of this author's.
 *
 * @throws StorageQuotaExceededError
 * @throws StoreUnavailable when the image took so long that its bytes are being removed
 */
export async function updatePost(
  db: Database,
  author: number,
  id: number,
  { title, text, image }: PostChange,
): Promise<{ entries: number[] } | undefined> {
  return db.transaction().execute(async (trx) => {
    await lockShared(trx, { accounts: [author], posts: [id] });
    const old = await ownPost(trx, author, id);
    if (!old) return undefined;
    if (image) await claimImage(trx, image);
    if (image !== undefined) await changeStoredBytes(trx, author, image, old.image_bytes);
    await trx
      .updateTable('posts')
      .set({
        ...(title !== undefined && { title }),
        ...(text !== undefined && { text }),
        ...(image !== undefined && { image: image?.name ?? null, image_bytes: image?.bytes ?? 0 }),
        id,
      })
      .where('id', '=', id)
      .execute();
    return { entries: image === undefined ? [] : await enqueue(trx, imageReferences(old.image)) };
  });
}

/** Locks the row, so that of two edits at once the second one sees the first one's image. */
async function ownPost(trx: DatabaseTransaction, author: number, id: number) {
  const row = trx.selectFrom('posts').select(['image', 'image_bytes']).where(isOwn(author, id));
  return row.forUpdate().executeTakeFirst();
}

/** Undefined when there is no such post of this author's. */
export async function deletePost(db: Database, author: number, id: number): Promise<number[] | undefined> {
  if (!(await isPostOf(db, author, id))) return undefined;
  return db.transaction().execute(async (trx) => {
    // The account first: its deletion locks its row before those of its posts.
    await lockShared(trx, { accounts: [author] });
    await lockExclusive(trx, { posts: [id] });
    const deleted = trx.deleteFrom('posts').where(isOwn(author, id)).returning(['image', 'image_bytes']);
    const post = await deleted.executeTakeFirst();
    if (!post) return undefined;
    await changeStoredBytes(trx, author, null, post.image_bytes);
    return enqueue(trx, [{ kind: 'post', key: id }, ...imageReferences(post.image)]);
  });
}
