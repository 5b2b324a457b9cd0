import { type Selectable, sql } from 'kysely';
import type { SocialGraph } from '../graph/index.js';
import type { Database } from '../postgres/index.js';
import type { Tables } from '../schema.js';
import { StoreUnavailableError } from '../support/errors.js';

/** How the operator names a post or an account: by its id, or the name of its image. */
export type RowReference = { id: number } | { image: string };

export type PostRecord = Selectable<Tables['posts']> & { author_username: string | null };

/** A post as the operator sees it. The number of likes is null if the graph is unavailable. */
export type PostDetails = PostRecord & { likes: number | null };

const selectRecords = (db: Database) =>
  db
    .selectFrom('posts')
    .leftJoin('accounts', 'accounts.id', 'posts.author_id')
    .selectAll('posts')
    .select('accounts.username as author_username');

/** Returns a post, or undefined if it does not exist. */
export async function findPostRecord(db: Database, by: RowReference): Promise<PostRecord | undefined> {
  const query = selectRecords(db);
  return (
    'id' in by ? query.where('posts.id', '=', by.id) : query.where('posts.image', '=', by.image)
  ).executeTakeFirst();
}

/** Returns a page of an author's posts, the newest first. `after` is the last id of the previous page. */
export async function listPostsOf(
  db: Database,
  author: number,
  { after, limit }: { after?: number; limit: number },
): Promise<PostRecord[]> {
  let query = selectRecords(db).where('posts.author_id', '=', author);
  if (after !== undefined) query = query.where('posts.id', '<', after);
  // Not by the primary key itself: PostgreSQL might search it backwards for the author's posts.
  return query.orderBy(sql`posts.id + 0`, 'desc').limit(limit).execute();
}

/** Returns the ids of an author's posts, in ascending order. */
export async function findPostIdsOf(db: Database, author: number): Promise<number[]> {
  const rows = await db.selectFrom('posts').select('id').where('author_id', '=', author).orderBy('id').execute();
  return rows.map(({ id }) => id);
}

/** Adds the numbers of likes. */
export async function withLikes(graph: SocialGraph, posts: readonly PostRecord[]): Promise<PostDetails[]> {
  const ids = posts.map(({ id }) => id);
  const found = await graph.relationsBetween([], [], ids).catch((error) => {
    if (!(error instanceof StoreUnavailableError)) throw error;
  });
  return posts.map((post) => ({ ...post, likes: found ? (found.likes.get(post.id)?.count ?? 0) : null }));
}
