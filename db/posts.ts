import { type SqlBool, sql } from 'kysely';
import type { SocialGraph } from './graph/index.js';
import { enqueue, imageReferences, insertEntries, type OutboxEntry } from './outbox/entries.js';
import { claimImage, claimImageIf, type PendingImage } from './outbox/pending-images.js';
import type { Database, Postgres } from './postgres/index.js';
import { lockExclusive, lockShared, sharedLocksWithin } from './postgres/locks.js';
import { changeStoredBytes, isWithinQuota, StorageQuotaExceededError } from './storage-quota.js';
import { StoreUnavailableError } from './support/errors.js';
import { NONEXISTENT_OWNER, type Owner, publicOr } from './visibility.js';

/** A post with columns of its author's account, which are null if the account's row is missing. */
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

/** The columns of a post that a response contains. */
export type PostFields = Omit<PostRow, 'author_private'>;

/** Returns the owner of a post, for visibility checks. */
export const authorOf = (post: PostRow): Owner => ({ id: post.author_id, private: post.author_private });

/**
 * Builds a query for posts with the columns of `PostRow`. The limit of the subquery forces a nested loop, which keeps the order
 * of the posts' index and caches the row of each author (Memoize). With a plain join, PostgreSQL would sort all posts, or look
 * up the author again for each post.
 */
export function selectPosts(db: Database) {
  return db
    .selectFrom('posts')
    .leftJoinLateral(
      (query) =>
        query
          .selectFrom('accounts')
          .select(['username', 'private'])
          .whereRef('accounts.id', '=', 'posts.author_id')
          .limit(1)
          .as('author'),
      (join) => join.onTrue(),
    )
    .select([
      'posts.id',
      'posts.title',
      'posts.text',
      'posts.image',
      'posts.author_id',
      'posts.created_at',
      'author.username as author_username',
      'author.private as author_private',
    ]);
}

/** Returns the posts with these ids that exist, by id. */
export async function findPosts(db: Database, ids: readonly number[]): Promise<Map<number, PostRow>> {
  const rows = await selectPosts(db).where(sql<boolean>`posts.id = any(${ids}::int8[])`).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Returns the owners of the posts that exist, by post id. Does not read content, which the viewer may not be allowed to
 * see.
 */
export async function findPostOwners(db: Database, ids: readonly number[]): Promise<Map<number, Owner>> {
  // Returns a row and looks up an account for every id, so that a missing post takes as long as a hidden one.
  const { rows } = await sql<{ post: number; author: number | null; private: boolean | null }>`
    select wanted.id as post, posts.author_id as author, accounts.private
    from unnest(${ids}::int8[]) as wanted (id)
    left join posts on posts.id = wanted.id
    left join accounts on accounts.id = coalesce(posts.author_id, ${sql.lit(NONEXISTENT_OWNER.id)})`.execute(db);
  return new Map(
    rows.flatMap(({ post, author, ...owner }) => (author === null ? [] : [[post, { id: author, ...owner }]])),
  );
}

/** Returns the owner of the post with this image. Does not read content, which the viewer may not be allowed to see. */
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

/** A post that exists. `post` is undefined if its content was not read: see `findPostsPublicOrOwn`. */
export interface FoundPost {
  owner: Owner;
  post: PostRow | undefined;
}

/** An id that no account has. */
const NO_VIEWER = 0;

/**
 * Returns one post or undefined for each query, in the order of the queries. The content of a post is read only if the post
 * is public or the viewer's own, so that the response time for a hidden post does not depend on its content.
 *
 * The statement has one viewer for each post. If several viewers query the same private post in one batch, its content is
 * therefore read for none of them, not even for its author: `findVisiblePost` reads it afterwards.
 */
export async function findPostsPublicOrOwn(
  db: Database,
  queries: readonly PostQuery[],
): Promise<(FoundPost | undefined)[]> {
  const viewerOfPost = new Map<number, number>();
  for (const { id, viewer } of queries) {
    viewerOfPost.set(id, (viewerOfPost.get(id) ?? viewer) === viewer ? viewer : NO_VIEWER);
  }
  const isPublicOrOwn = publicOr(sql`posts.author_id = query.viewer`);
  const ifPublicOrOwn = (column: string) => sql`case when ${isPublicOrOwn} then ${sql.ref(column)} end`;
  const { rows } = await sql<PostRow & { is_public_or_own: boolean }>`
    select posts.id, posts.author_id, accounts.private as author_private, ${isPublicOrOwn} as is_public_or_own,
      ${ifPublicOrOwn('posts.title')} as title, ${ifPublicOrOwn('posts.text')} as text,
      ${ifPublicOrOwn('posts.image')} as image, ${ifPublicOrOwn('posts.created_at')} as created_at,
      ${ifPublicOrOwn('accounts.username')} as author_username
    from unnest(${[...viewerOfPost.keys()]}::int8[], ${[...viewerOfPost.values()]}::int8[]) as query (id, viewer)
    join posts on posts.id = query.id
    left join accounts on accounts.id = posts.author_id`.execute(db);
  const found = new Map<number, FoundPost>();
  for (const { is_public_or_own, ...post } of rows) {
    found.set(post.id, { owner: authorOf(post), post: is_public_or_own ? post : undefined });
  }
  return queries.map(({ id }) => found.get(id));
}

export interface PostContent {
  title: string;
  text: string;
  image?: PendingImage | undefined;
}

/** What is needed to create a post. */
export interface PostStores extends Pick<Postgres, 'db' | 'statementTimeoutMs'> {
  graph: Pick<SocialGraph, 'hasNodes'>;
}

/**
 * The result of the statement that creates a post. If the image exceeds the storage quota or cannot be claimed, `id` and
 * the other columns of the post and its entry are null.
 */
interface CreatedRow extends Omit<PostRow, 'id'> {
  id: number | null;
  /** The id of the outbox entry; null if the graph needs no node. */
  entryId: number | null;
  /** Whether the image is within the storage quota. */
  fits: boolean;
}

/**
 * Creates a post. Returns undefined if the author's account does not exist.
 *
 * A single statement performs these steps: take the advisory lock (`locked`), lock and read the account's row
 * (`account`), claim the image (`claimed`), add its size to the account's stored bytes (`counted`), insert the post and its
 * outbox entry. Each step reads from an earlier one, so all of them wait for the locks.
 *
 * The snapshot of the statement is older than its locks. The row lock of `account` makes the statement read the current
 * version of the row. With an image, this row lock is exclusive (`no key update`), so that two concurrent posts check the quota
 * one after the other.
 *
 * @throws StorageQuotaExceededError
 * @throws StoreUnavailableError if the image can no longer be claimed: see `claimImage`
 */
export async function createPost(
  { db, statementTimeoutMs, graph }: PostStores,
  author: number,
  { title, text, image }: PostContent,
): Promise<{ post: PostRow; entries: OutboxEntry[] } | undefined> {
  const counted = image
    ? sql`counted as (
      update accounts set stored_bytes = stored_bytes + ${image.bytes}::int8 from claimed where accounts.id = ${author}),`
    : sql``;
  const { rows } = await sql<CreatedRow>`
    with locked as materialized (${sharedLocksWithin(statementTimeoutMs, { accounts: [author] })}),
    account as (
      select accounts.id, username as author_username, private as author_private,
        ${image ? isWithinQuota(image) : sql`true`} as fits
      from locked, accounts
      where accounts.id = ${author} for ${image ? sql`no key update` : sql`share`} of accounts),
    claimed as (${image ? claimImageIf(image, sql`exists (select from account where fits)`) : sql`select true`}),
    ${counted}
    post as (
      insert into posts (author_id, title, text, image, image_bytes)
      select account.id, ${title}::text, ${text}::text, ${image?.name ?? null}::text, ${image ? sql`${image.bytes}::int8` : sql`0`}
      from account, claimed
      returning id, title, text, image, author_id, created_at),
    entry as (${graph.hasNodes ? insertEntries(sql`select 'post', id::text from post`) : sql`select null::int8 as id`})
    select post.id, title, text, image, author_id, created_at, author_username, author_private, fits,
      entry.id as "entryId"
    from account left join (post cross join entry) on true`.execute(db);
  const [created] = rows;
  if (!created) return undefined;
  const { entryId, id, fits, ...rest } = created;
  if (!fits) throw new StorageQuotaExceededError();
  if (id === null) throw new StoreUnavailableError('images');
  // Within a transaction, the claim is not committed yet.
  if (image && !db.isTransaction) image.isClaimed = true;
  return { post: { ...rest, id }, entries: entryId === null ? [] : [{ id: entryId, kind: 'post', key: String(id) }] };
}

interface PostChange {
  title?: string | undefined;
  text?: string | undefined;
  /** A new image, or null to remove the current one. */
  image?: PendingImage | null | undefined;
}

const isOwn = (author: number, id: number) => sql<SqlBool>`id = ${id} and author_id = ${author}`;

/** Returns whether a post exists and belongs to this author. Does not read its content or wait for locks. */
export async function isPostOf(db: Database, author: number, id: number): Promise<boolean> {
  const found = await db.selectFrom('posts').select('id').where(isOwn(author, id)).executeTakeFirst();
  return found !== undefined;
}

/**
 * Updates a post. Returns undefined if the author has no such post. Call `isPostOf` first, because this function locks the post
 * before it checks the author.
 *
 * @throws StorageQuotaExceededError
 * @throws StoreUnavailableError if the image can no longer be claimed: see `claimImage`
 */
export async function updatePost(
  db: Database,
  author: number,
  id: number,
  { title, text, image }: PostChange,
): Promise<{ entries: OutboxEntry[] } | undefined> {
  return db.transaction().execute(async (trx) => {
    await lockShared(trx, { accounts: [author], posts: [id] });
    // The row lock makes the second of two concurrent edits see the image of the first one.
    const query = trx.selectFrom('posts').select(['image', 'image_bytes']).where(isOwn(author, id));
    const old = await query.forUpdate().executeTakeFirst();
    if (!old) return undefined;
    if (image) await claimImage(trx, image);
    if (image !== undefined) await changeStoredBytes(trx, author, image, old.image_bytes);
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
    return { entries: image === undefined ? [] : await enqueue(trx, imageReferences(old.image)) };
  });
}

/** Deletes a post. Returns the outbox entries to deliver, or undefined if the author has no such post. */
export async function deletePost(db: Database, author: number, id: number): Promise<OutboxEntry[] | undefined> {
  // Checked before the exclusive lock is taken. Otherwise a user could block likes of the posts of others, and the wait for the
  // lock would reveal that a post exists.
  if (!(await isPostOf(db, author, id))) return undefined;
  return db.transaction().execute(async (trx) => {
    // The account is locked first. Otherwise this transaction could deadlock with the deletion of the account, which locks the
    // account's row before the rows of its posts.
    await lockShared(trx, { accounts: [author] });
    await lockExclusive(trx, { posts: [id] });
    const deletion = trx.deleteFrom('posts').where(isOwn(author, id)).returning(['image', 'image_bytes']);
    const post = await deletion.executeTakeFirst();
    if (!post) return undefined;
    await changeStoredBytes(trx, author, null, post.image_bytes);
    return enqueue(trx, [{ kind: 'post', key: id }, ...imageReferences(post.image)]);
  });
}
