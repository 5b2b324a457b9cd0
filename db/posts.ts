import { sql } from 'kysely';
import type { Database } from './postgres/index.js';
import { AUDIENCE, type Audience, NONEXISTENT_OWNER, type Owner } from './visibility.js';

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
  author_audience: Audience | null;
}

/** The columns of a post that a response contains. */
export type PostFields = Omit<PostRow, 'author_audience'>;

/** Returns the owner of a post, for visibility checks. */
export const authorOf = (post: PostRow): Owner => ({
  id: post.author_id,
  audience: post.author_audience ?? 'everybody',
});

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
          .select(['username', AUDIENCE.as('audience')])
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
      'author.audience as author_audience',
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
  const { rows } = await sql<{ post: number; author: number | null; audience: Audience }>`
    select wanted.id as post, posts.author_id as author, ${AUDIENCE} as audience
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
    .select(['posts.author_id as id', AUDIENCE.as('audience')])
    .where('posts.image', '=', image)
    .executeTakeFirst();
}
