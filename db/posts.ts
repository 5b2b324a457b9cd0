import { sql } from 'kysely';
import type { Database } from './postgres/index.js';
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

/** Reads the posts of all lists with one query. Returns, for each list, the posts that exist, in the order of the list. */
export async function findPosts(db: Database, lists: readonly (readonly number[])[]): Promise<PostRow[][]> {
  const ids = [...new Set(lists.flat())];
  const rows = await selectPosts(db)
    .where((eb) => eb('posts.id', '=', eb.fn.any(eb.val(ids))))
    .execute();
  const found = new Map(rows.map((row) => [row.id, row]));
  return lists.map((list) => list.flatMap((id) => found.get(id) ?? []));
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
