import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from './postgres/index.js';
import { findPosts, idArray, newestFirst, type Page, type PostRow, withPrivacy } from './posts.js';
import type { Lane } from './support/lane.js';
import { hiddenOwners, privateAccounts, publicOr } from './visibility.js';

/*
 * Keyset pagination for pages deep in a list. To skip an offset, PostgreSQL reads all posts before it, which takes seconds in
 * a list of millions. So the list is scanned in slices, newest first: each slice starts after the last post of the previous
 * one, and its visible posts are subtracted from the offset. Other statements run in between, and the scan ends when the
 * client disconnects. Only one deep page is read at a time.
 *
 * The privacy of the authors is read in one of two ways. If few accounts are private, PostgreSQL hashes the ids of those that
 * are hidden from the viewer, once for each slice. That is four times as fast as to look up each author, but with many private
 * accounts the hash table would take longer to build than the slice takes to scan, and then exceed PostgreSQL's memory limit.
 */

/** Pages at this offset or a larger one are read in slices. */
export const MIN_DEEP_OFFSET = 1000;

/** The posts that are public or by one of these authors, or all posts by one author. */
export type PostList = { publicOrBy: readonly number[] } | { by: number };

/** Slices of these sizes take a few milliseconds anywhere in the list. */
const MAX_SLICE_POSTS = { withHash: 6000, withLookUps: 3000 };

/** With more private accounts, authors are looked up. */
const MAX_HASHED_ACCOUNTS = 20_000;

/** In smaller slices, the overhead of the statement would exceed the cost of the scan. */
const MIN_SLICE_POSTS = 1000;

/** Reads a page in the lane for deep pages. @throws OverloadedError */
export async function readDeepPage(
  { db, deepPages }: { db: Database; deepPages: Lane },
  list: PostList,
  page: Page,
  signal: AbortSignal | undefined,
): Promise<PostRow[]> {
  return deepPages.run(async () => {
    const ids = await findDeepIds(db, list, page, { signal });
    const posts = await findPosts(db, ids);
    return ids.flatMap((id) => posts.get(id) ?? []);
  }, signal);
}

/**
 * Returns the ids of a page at any offset. Posts created during the scan do not shift its slices.
 *
 * @param signal aborts when the client disconnects
 */
export async function findDeepIds(
  db: Database,
  list: PostList,
  { limit, offset }: Page,
  { signal, maxSlicePosts, maxHashedAccounts = MAX_HASHED_ACCOUNTS }: ScanOptions = {},
): Promise<number[]> {
  const useHash = 'by' in list || !(await hasMorePrivateAccounts(db, maxHashedAccounts));
  const maxSize = maxSlicePosts ?? (useHash ? MAX_SLICE_POSTS.withHash : MAX_SLICE_POSTS.withLookUps);
  const ids: number[] = [];
  let skip = offset;
  let after: PostKey | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const remaining = limit - ids.length;
    const size = Math.min(Math.max(skip + remaining, MIN_SLICE_POSTS), maxSize);
    const slice: Slice = await readSlice(db, list, { after, size, skip, take: remaining, useHash });
    ids.push(...slice.ids);
    if (slice.size < size || ids.length >= limit) return ids;
    skip = Math.max(0, skip - slice.visibleCount);
    after = slice.last;
  }
}

interface ScanOptions {
  signal?: AbortSignal | undefined;
  maxSlicePosts?: number;
  maxHashedAccounts?: number;
}

async function hasMorePrivateAccounts(db: Database, count: number): Promise<boolean> {
  const { rows } = await sql`${privateAccounts} offset ${sql.lit(count)} limit 1`.execute(db);
  return rows.length > 0;
}

/** The sort key of a post in lists. */
interface PostKey {
  id: number;
  /** In the text format of PostgreSQL, with microseconds. */
  createdAt: string;
}

interface SliceQuery {
  /** The slice starts after this post. */
  after: PostKey | undefined;
  /** The number of posts to scan. */
  size: number;
  /** The number of visible posts to skip, and how many of the following to return. */
  skip: number;
  take: number;
  useHash: boolean;
}

interface Slice {
  /** The number of posts scanned: smaller than requested only at the end of the list. */
  size: number;
  visibleCount: number;
  ids: number[];
  /** The last post scanned. Its fields are null if the slice is empty. */
  last: PostKey;
}

async function readSlice(
  db: Database,
  list: PostList,
  { after, size, skip, take, useHash }: SliceQuery,
): Promise<Slice> {
  const { join, where, isVisible } = buildClauses(list, useHash);
  const isOlder = after
    ? sql`(created_at, id) < (${sql.lit(after.createdAt)}::timestamptz, ${sql.lit(after.id)})`
    : sql`true`;
  // At most the size of the slice, since array subscripts are 32-bit integers.
  const first = Math.min(skip, size) + 1;
  const { rows } = await sql<Omit<Slice, 'ids'> & { ids: number[] | null }>`
    select count(*)::int as size, (count(*) filter (where is_visible))::int as "visibleCount",
      to_json((array_agg(id) filter (where is_visible))[${sql.lit(first)}:${sql.lit(first + take - 1)}]) as ids,
      json_build_object('id', (array_agg(id))[count(*)], 'createdAt', (array_agg(created_at))[count(*)]::text) as last
    from (
      select posts.id, posts.created_at, ${isVisible} as is_visible
      from posts ${join}
      where ${where} and ${isOlder}
      order by ${newestFirst} limit ${sql.lit(size)}
    ) slice`.execute(db);
  const [slice] = rows;
  if (!slice) throw new TypeError('Expected one row from the slice query');
  return { ...slice, ids: slice.ids ?? [] };
}

/** Builds the parts of the slice query that depend on the kind of list. */
function buildClauses(list: PostList, useHash: boolean): Record<'join' | 'where' | 'isVisible', RawBuilder<unknown>> {
  if ('by' in list) return { join: sql``, where: sql`author_id = ${sql.lit(list.by)}`, isVisible: sql`true` };
  const authors = idArray(list.publicOrBy);
  if (useHash) {
    const hidden = hiddenOwners(sql`id = any(${authors})`);
    return { join: sql``, where: sql`true`, isVisible: sql`author_id not in (${hidden})` };
  }
  const isByAuthor = sql<SqlBool>`author_id = any(${authors})`;
  return { join: withPrivacy, where: sql`true`, isVisible: publicOr(isByAuthor) };
}
