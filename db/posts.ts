import { sql } from 'kysely';
import { lockExclusive, lockShared, sharedLocksWithin } from './locks.js';
import { imagesOf, recordChanges, recordFound } from './outbox.js';
import { claimImage, claimWhere, type PendingImage } from './pending-images.js';
import type { Database, DatabaseTransaction, Postgres } from './postgres/index.js';
import { StoreUnavailable } from './unavailable.js';
import type { Owner } from './visibility.js';

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

function selectPosts(db: Database) {
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

const newestFirst = sql`posts.created_at desc, posts.id desc`;

/** Those of these that are there, by their ids. */
export async function findPosts(db: Database, ids: readonly number[]): Promise<Map<number, PostRow>> {
  const rows = await selectPosts(db).where(sql<boolean>`posts.id = any(${ids}::int8[])`).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export async function findPostByImage(db: Database, image: string): Promise<PostRow | undefined> {
  return selectPosts(db).where('posts.image', '=', image).executeTakeFirst();
}

/** The newest posts of all, whoever may see them. */
export async function newestPosts(db: Database, limit: number): Promise<PostRow[]> {
  return selectPosts(db).orderBy(newestFirst).limit(limit).execute();
}

/**
 * A join that leaves an index's order alone: by its limit it has to be made post by post, and PostgreSQL remembers each
 * author's answer meanwhile (Memoize). A plain one is planned with a sort of all posts, or looks every author up again.
 */
const withPrivacy = sql`
  left join lateral (select private from accounts where accounts.id = posts.author_id limit 1) author on true`;

/** The newest posts of all, told by their ids, and beside each its author's id where that account is private. */
export interface NewestIds {
  ids: readonly number[];
  closed: readonly (number | null)[];
}

/** Each list comes as one value: thousands of rows would take longer to read than to find. */
export async function newestIds(db: Database, limit: number): Promise<NewestIds> {
  const { rows } = await sql<NewestIds>`
    select coalesce(json_agg(id), '[]') as ids, coalesce(json_agg(closed), '[]') as closed
    from (
      select posts.id, case when private then author_id end as closed
      from posts ${withPrivacy}
      order by ${newestFirst} limit ${limit}
    ) newest`.execute(db);
  return rows[0] ?? { ids: [], closed: [] };
}

export async function postsByAuthor(db: Database, author: number, { limit, offset }: Page): Promise<PostRow[]> {
  return selectPosts(db).where('author_id', '=', author).orderBy(newestFirst).limit(limit).offset(offset).execute();
}

/** From this offset on a page is found by going through all that comes before it. */
const DEEP = 1000;

/**
 * A page of what is public and of what these authors wrote. Only the page itself is joined and sorted whole. The numbers
 * stand in the statement's text: how it is best done depends on how deep the page lies, so it is planned each time.
 */
export async function postsPublicOrBy(db: Database, authors: readonly number[], page: Page): Promise<PostRow[]> {
  const ids = page.offset < DEEP ? mergedPage(authors, page) : scannedPage(authors, page);
  return selectPosts(db).where('posts.id', 'in', ids).orderBy(newestFirst).execute();
}

const listed = (authors: readonly number[]) => sql.lit(`{${authors.join(',')}}`);

/** Each author's newest, by index, and the newest public ones: quick where nearly every account is private. */
function mergedPage(authors: readonly number[], { limit, offset }: Page) {
  const deep = sql.lit(offset + limit);
  return sql<number>`(
    select id from (
      (select posts.id, posts.created_at from posts ${withPrivacy}
       where private is not true
       order by ${newestFirst} limit ${deep})
      union
      (select p.id, p.created_at from unnest(${listed(authors)}::int8[]) as author (id)
       cross join lateral (
         select id, created_at from posts where author_id = author.id
         order by created_at desc, id desc limit ${deep}
       ) p)
      order by created_at desc, id desc limit ${sql.lit(limit)} offset ${sql.lit(offset)}
    ) page)`;
}

/** In one go through an index: quick where a page lies deep. */
function scannedPage(authors: readonly number[], { limit, offset }: Page) {
  return sql<number>`(
    select posts.id from posts ${withPrivacy}
    where private is not true or author_id = any(${listed(authors)}::int8[])
    order by ${newestFirst} limit ${sql.lit(limit)} offset ${sql.lit(offset)})`;
}

export interface PostContent {
  title: string;
  text: string;
  image?: PendingImage | undefined;
}

/** `id` is null, and what else a post has with it, where the image was not to be claimed. */
interface Created extends Omit<PostRow, 'id'> {
  id: number | null;
  entry: number;
}

/**
 * It is one statement, whose look at the account is as old as its beginning; `for share` looks again once it has the locks.
 * Whatever is written reads `account`, and so waits for them too. Undefined when the author's account is gone.
 *
 * @throws StoreUnavailable when the image took so long that its bytes are being removed
 */
export async function createPost(
  { db, deadline }: Pick<Postgres, 'db' | 'deadline'>,
  author: number,
  { title, text, image }: PostContent,
): Promise<{ post: PostRow; entries: number[] } | undefined> {
  const { rows } = await sql<Created>`
    with locked as materialized (${sharedLocksWithin(deadline, { accounts: [author] })}),
    account as (
      select accounts.id, username as author_username, private as author_private from locked, accounts
      where accounts.id = ${author} for share of accounts),
    claimed as (${image ? claimWhere(image, sql`exists (select from account)`) : sql`select`}),
    post as (
      insert into posts (author_id, title, text, image)
      select account.id, ${title}::text, ${text}::text, ${image?.name ?? null}::text from account, claimed
      returning id, title, text, image, author_id, created_at),
    entry as (${recordFound(sql`select 'post', id::text from post`)})
    select post.id, title, text, image, author_id, created_at, author_username, author_private, entry.id as entry
    from account left join (post cross join entry) on true`.execute(db);
  const [created] = rows;
  if (!created) return undefined;
  const { entry, id, ...rest } = created;
  if (id === null) throw new StoreUnavailable('images');
  return { post: { ...rest, id }, entries: [entry] };
}

export interface PostChange {
  title?: string | undefined;
  text?: string | undefined;
  /** A new image, or null for none. */
  image?: PendingImage | null | undefined;
}

/** Undefined when there is no such post of this author's. */
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
    await trx
      .updateTable('posts')
      .set({
        ...(title !== undefined && { title }),
        ...(text !== undefined && { text }),
        ...(image !== undefined && { image: image === null ? null : image.name }),
        id,
      })
      .where('id', '=', id)
      .execute();
    return { entries: image === undefined ? [] : await recordChanges(trx, imagesOf(old.image)) };
  });
}

/** Locks the row, so that of two edits at once the second one sees the first one's image. */
async function ownPost(trx: DatabaseTransaction, author: number, id: number) {
  return trx
    .selectFrom('posts')
    .select('image')
    .where('id', '=', id)
    .where('author_id', '=', author)
    .forUpdate()
    .executeTakeFirst();
}

/** Undefined when there is no such post of this author's. */
export async function deletePost(db: Database, author: number, id: number): Promise<number[] | undefined> {
  return db.transaction().execute(async (trx) => {
    await lockExclusive(trx, { posts: [id] });
    const post = await trx
      .deleteFrom('posts')
      .where('id', '=', id)
      .where('author_id', '=', author)
      .returning('image')
      .executeTakeFirst();
    if (!post) return undefined;
    return recordChanges(trx, [{ kind: 'post', key: id }, ...imagesOf(post.image)]);
  });
}
