import type { Abortable } from 'node:events';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { BLOCK_POSTS, findFeedPosition, type VisibilityClauses } from './feed-blocks.js';
import type { Database } from './postgres/index.js';
import { findPosts, idArray, newestFirst, type Page, type PostRow, withPrivacy } from './posts.js';
import type { ConcurrencyLimiter } from './support/concurrency-limiter.js';
import { hiddenOwners, privateAccounts, publicOr } from './visibility.js';

/*
 * Keyset pagination for pages at a large offset of a list, and for lists with few visible posts.
 *
 * To skip an offset or hidden posts, PostgreSQL reads the skipped posts, which takes seconds in a list of millions. The list is
 * therefore scanned in slices, newest first. Each slice starts after the last post of the previous slice, and the number of its
 * visible posts is subtracted from the remaining offset. Other statements can run between two slices, and a signal can end the
 * scan, for example when the client disconnects.
 *
 * In the feed, the scan starts near the offset if the number of posts before it is known: see `feed-blocks.ts`.
 *
 * There are two ways to find out which authors of a slice are private:
 *
 *   With a hash table   PostgreSQL hashes the ids of all accounts that are hidden from the viewer, once per slice. In a large
 *                       slice, this is several times as fast as lookups. The more accounts are private, the larger the
 *                       slices, because the table is built again for each slice.
 *   With lookups        PostgreSQL looks up each author. Used for a small slice if private accounts far outnumber its posts, and
 *                       for every slice if so many accounts are private that the hash table could exceed PostgreSQL's memory
 *                       limit.
 */

/** The limit for deep pages: a process reads only one at a time. */
export const DEEP_PAGE_LIMITS = { concurrency: 1, maxWaitMs: 3000 };

/** The posts that are public or by one of these authors, or all posts by one author. */
export type PostList = { publicOrBy: readonly number[] } | { by: number };

/** The maximum size of a slice with lookups. Such a slice takes about ten milliseconds anywhere in the list. */
const MAX_LOOKUP_SLICE_POSTS = 3000;

/**
 * The maximum size of a slice with a hash table is the number of private accounts, within these bounds. Such a slice takes
 * three to twenty milliseconds.
 */
const HASH_SLICE_POSTS = { min: 6000, max: 20_000 };

/**
 * The maximum number of private accounts for the hash table. A table of this size takes about half of the memory that
 * PostgreSQL allows by default.
 */
const MAX_HASHED_ACCOUNTS = 60_000;

/** About this many accounts are hashed in the time of one lookup. */
const HASHED_PER_LOOKUP = 8;

/** The minimum size of a slice. In a smaller slice, the statement's overhead would exceed the cost of the scan. */
const MIN_SLICE_POSTS = 1000;

/** The assumed share of visible posts in the first slice. The share in a slice is assumed for the next one. */
const INITIAL_VISIBLE_SHARE = 0.5;

/** The expected size of a slice is multiplied by this factor: a few more posts cost less than another slice. */
const SIZE_MARGIN = 1.05;

/**
 * Reads a page within the concurrency limit for deep pages.
 *
 * @param client its signal ends the wait and the scan
 * @throws OverloadedError, ClientDisconnectedError
 */
export async function readDeepPage(
  { db, deepPages }: { db: Database; deepPages: ConcurrencyLimiter },
  list: PostList,
  page: Page,
  client?: Abortable,
): Promise<PostRow[]> {
  const signal = client?.signal;
  return deepPages.run(async () => {
    const ids = await findIdsInSlices(db, list, page, { signal });
    const posts = await findPosts(db, ids);
    return ids.flatMap((id) => posts.get(id) ?? []);
  }, signal);
}

/**
 * Returns the ids of a page. Posts that are created during the scan do not shift the slices.
 *
 * @param signal ends the scan
 */
export async function findIdsInSlices(
  db: Database,
  list: PostList,
  { limit, offset }: Page,
  { signal, maxSlicePosts, maxHashedAccounts = MAX_HASHED_ACCOUNTS }: ScanOptions = {},
): Promise<number[]> {
  const privateCount = 'by' in list ? 0 : await estimatePrivateAccounts(db, maxHashedAccounts + 1);
  const isHashable = privateCount <= maxHashedAccounts;
  const maxHashSlice = Math.min(Math.max(privateCount, HASH_SLICE_POSTS.min), HASH_SLICE_POSTS.max);
  const maxSize = maxSlicePosts ?? (isHashable ? maxHashSlice : MAX_LOOKUP_SLICE_POSTS);
  /** Returns whether to find the private authors of this many posts with a hash table. */
  const useHash = (posts: number) =>
    isHashable && (privateCount <= HASHED_PER_LOOKUP * posts || posts > MAX_LOOKUP_SLICE_POSTS);
  const position =
    'by' in list || offset < BLOCK_POSTS
      ? undefined
      : await findPosition(db, list.publicOrBy, offset, useHash(2 * BLOCK_POSTS));
  const ids: number[] = [];
  let skip = position?.skip ?? offset;
  let after: PostKey | undefined = position && { createdAt: position.before, id: 0 };
  let visibleShare = 'by' in list ? 1 : INITIAL_VISIBLE_SHARE;
  for (;;) {
    signal?.throwIfAborted();
    const remaining = limit - ids.length;
    const expectedSize = Math.ceil((SIZE_MARGIN * (skip + remaining)) / visibleShare);
    const size = Math.min(Math.max(expectedSize, MIN_SLICE_POSTS), maxSize);
    const slice: Slice = await readSlice(db, list, {
      after,
      size,
      skip,
      take: remaining,
      useHash: useHash(size),
    });
    ids.push(...slice.ids);
    if (slice.size < size || ids.length >= limit) return ids;
    skip = Math.max(0, skip - slice.visibleCount);
    after = slice.last;
    visibleShare = slice.visibleCount / slice.size;
  }
}

/**
 * The authors are a parameter, so that the statement is the same for all viewers: see `PreparedStatementClient`. PostgreSQL
 * hashes the result of a subquery, but not an array that is a parameter.
 */
const findPosition = (db: Database, authors: readonly number[], offset: number, useHash: boolean) =>
  findFeedPosition(db, authors, visibilityClauses(sql`in (select unnest(${authors}::int8[]))`, useHash), offset);

interface ScanOptions {
  signal?: AbortSignal | undefined;
  // Tests override these two limits.
  maxSlicePosts?: number;
  maxHashedAccounts?: number;
}

/**
 * Returns the approximate number of private accounts, from the statistics of their index. Counting takes milliseconds if there
 * are many. It is necessary before the first ANALYZE, and then ends at `max`.
 */
async function estimatePrivateAccounts(db: Database, max: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select case
      when reltuples > 0 then reltuples::float8
      else (select count(*) from (${privateAccounts} limit ${max}) private_accounts)
    end as count
    from pg_class where oid = 'accounts_private'::regclass`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The sort key of a post in lists. */
interface PostKey {
  id: number;
  /** In PostgreSQL's text format. */
  createdAt: string;
}

interface SliceQuery {
  /** The slice starts after this post, or at the newest post if undefined. */
  after: PostKey | undefined;
  /** The number of posts to scan. */
  size: number;
  /** The number of visible posts to skip. */
  skip: number;
  /** The maximum number of posts to return after the skipped ones. */
  take: number;
  useHash: boolean;
}

interface Slice {
  /** The number of posts scanned. It is smaller than requested only at the end of the list. */
  size: number;
  /** The number of visible posts among them. */
  visibleCount: number;
  /** The ids of the visible posts that belong to the page. */
  ids: number[];
  /** The last post scanned. Its fields are null if the slice is empty. */
  last: PostKey;
}

/** Scans the next slice of the list. */
async function readSlice(
  db: Database,
  list: PostList,
  { after, size, skip, take, useHash }: SliceQuery,
): Promise<Slice> {
  const { join, where, isVisible } = buildClauses(list, useHash);
  const isOlder = after
    ? sql`(created_at, id) < (${sql.lit(after.createdAt)}::timestamptz, ${sql.lit(after.id)})`
    : sql`true`;
  // `skip` may exceed the maximum of an array subscript. Without this array, slices that are skipped are read faster.
  const ids =
    skip < size
      ? sql`(array_agg(id) filter (where is_visible))[${sql.lit(skip + 1)}:${sql.lit(skip + take)}]`
      : sql`null::int8[]`;
  const { rows } = await sql<Omit<Slice, 'ids'> & { ids: number[] | null }>`
    select size, "visibleCount", to_json(ids) as ids,
      json_build_object('id', posts.id, 'createdAt', posts.created_at::text) as last
    from (
      select count(*)::int as size, (count(*) filter (where is_visible))::int as "visibleCount", ${ids} as ids,
        (array_agg(id))[count(*)] as last_id
      from (
        select posts.id, ${isVisible} as is_visible
        from posts ${join}
        where ${where} and ${isOlder}
        order by ${newestFirst} limit ${sql.lit(size)}
      ) slice
    ) summary left join posts on posts.id = last_id`.execute(db);
  const [slice] = rows;
  if (!slice) throw new Error('Expected one row from the slice query');
  return { ...slice, ids: slice.ids ?? [] };
}

/** Builds the parts of the slice query that depend on the kind of list. */
function buildClauses(list: PostList, useHash: boolean): Record<'join' | 'where' | 'isVisible', RawBuilder<unknown>> {
  if ('by' in list) return { join: sql``, where: sql`author_id = ${sql.lit(list.by)}`, isVisible: sql`true` };
  return { where: sql`true`, ...visibilityClauses(sql`= any(${idArray(list.publicOrBy)})`, useHash) };
}

/** Builds the clauses that select posts that are public or whose author meets a condition. */
function visibilityClauses(isAllowedAuthor: RawBuilder<unknown>, useHash: boolean): VisibilityClauses {
  const isByAuthor = (column: string) => sql<SqlBool>`${sql.ref(column)} ${isAllowedAuthor}`;
  if (useHash) return { join: sql``, isVisible: sql`author_id not in (${hiddenOwners(isByAuthor('id'))})` };
  return { join: withPrivacy, isVisible: publicOr(isByAuthor('author_id')) };
}
