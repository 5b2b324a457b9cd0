import type { Abortable } from 'node:events';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { findIdsInSlices, readDeepPage } from './deep-pages.js';
import type { Database } from './postgres/index.js';
import { authorOf, idArray, newestFirst, type Page, type PostRow, selectPosts, withPrivacy } from './posts.js';
import type { ConcurrencyLimiter } from './support/concurrency-limiter.js';
import { OverloadedError } from './support/errors.js';
import { isPublicOrOwn, PUBLIC } from './visibility.js';
import { filterVisible, type PostReaders, type PostsPage, readPage, recheckVisible } from './visible-posts.js';

/*
 * The feed: all posts that a user may see, newest first, one page at a time.
 *
 * The newest posts are the same for all users, so concurrent requests share one query for them (see `support/batch.ts`). Three
 * queries are tried one after another, until one of them fills the page:
 *
 *   1. The window: reads the newest posts and filters them for the viewer. It serves nearly every first page. Viewers for
 *      whom it was too small skip it for a minute, except for smaller pages.
 *   2. The wide window: reads the ids of many more posts, filters the ids for the viewer, and then reads the posts of the page.
 *      It serves pages that end beyond the window, and viewers who may see only a few of the newest posts, because most
 *      accounts are private.
 *   3. The viewer's own query: combines the newest public posts with the posts of the viewer and the viewer's friends. It serves
 *      all other pages. Concurrent requests share the query for the ids of the public posts. Pages that end beyond
 *      `MAX_SHARED_POSTS` are scanned in slices instead (see `deep-pages.ts`).
 *
 * Hidden posts, or only their ids, are read too, and filtered out afterwards. This is safe for a list, because its response
 * time does not reveal whether a particular post exists.
 */

/** The maximum number of rows in the window. */
export const WINDOW_POSTS = 100;

/** The maximum number of ids in the wide window. */
export const WIDE_WINDOW_POSTS = 2000;

/** The window reads this many posts for each post that the page needs, so two out of three may be hidden. */
const OVERFETCH_FACTOR = 3;

/** The same for the wide window. If too many posts are hidden, it is read again with the maximum number of ids. */
const WIDE_OVERFETCH_FACTOR = 40;

/** Pages that end beyond this many posts do not share the scan for public posts: a long scan would delay first pages. */
const MAX_SHARED_POSTS = 200;

/** How long viewers skip the window after it was too small for them. */
const WINDOW_SHORTFALL_TTL_MS = 60_000;

/**
 * The end of the default first page. The shortfall of a smaller page is not recorded: its window is smaller too, and may have
 * been too small only by chance.
 */
const MIN_SHORTFALL_END = 20;

/** The maximum number of viewers who skip the window. */
const MAX_WINDOW_SHORTFALLS = 10_000;

/** The maximum duration of the scan for public posts. */
const MAX_SCAN_MS = 5000;

/** The batched lookups of the feed: see `readers.ts`. */
export interface FeedReaders extends PostReaders {
  /** Returns at least the `count` newest posts, or all posts if there are fewer. Includes posts that the viewer cannot see. */
  newestPosts(count: number): Promise<readonly PostRow[]>;
  /** Returns the ids of at least the `count` newest posts, or of all posts if there are fewer. */
  newestIds(count: number): Promise<NewestIds>;
  /** Returns the ids of at least the `count` newest public posts, or of all public posts if there are fewer. */
  newestPublicIds(count: number): Promise<readonly number[]>;
  /** Returns the ids of a user's friends. */
  friendsOf(user: number): Promise<readonly number[]>;
}

interface Stores {
  db: Database;
  read: FeedReaders;
  deepPages: ConcurrencyLimiter;
  windowShortfalls: WindowShortfalls;
}

/** For each viewer for whom the window was recently too small, the end (`offset` + `limit`) of the last such page. */
export type WindowShortfalls = LRUCache<number, number>;

export const createWindowShortfalls = (): WindowShortfalls =>
  new LRUCache({ max: MAX_WINDOW_SHORTFALLS, ttl: WINDOW_SHORTFALL_TTL_MS });

/**
 * Returns a page of the feed as `viewer` sees it.
 *
 * @param client its signal is used only for expensive pages, because a signal takes time to create
 * @throws OverloadedError, ClientDisconnectedError
 */
export async function readFeed(stores: Stores, viewer: number, page: Page, client?: Abortable): Promise<PostsPage> {
  const { windowShortfalls } = stores;
  const end = page.offset + page.limit;
  if (end < (windowShortfalls.get(viewer) ?? WINDOW_POSTS)) {
    const fromWindow = await readWindow(stores, viewer, page);
    if (fromWindow) return fromWindow;
    // The viewer's next pages start with the wide window, which saves a query that would probably be wasted again.
    if (end >= MIN_SHORTFALL_END) windowShortfalls.set(viewer, end);
  }
  return (await readWideWindow(stores, viewer, page)) ?? readByQuery(stores, viewer, page, client);
}

// 1. The window

/** Returns the page, or undefined if the window may be too small for it. */
async function readWindow({ read }: Stores, viewer: number, { limit, offset }: Page): Promise<PostsPage | undefined> {
  const end = offset + limit;
  const count = Math.min(OVERFETCH_FACTOR * (end + 1), WINDOW_POSTS);
  const window = await read.newestPosts(count);
  const { rows, publicOrOwnCount } = scanPrefix(viewer, window, end);
  // Whether friends' posts are needed to fill the page, and there may be older posts than those in the window.
  const mayFallShort = publicOrOwnCount <= end && window.length >= count;
  // If the public and own posts are fewer than half of those needed, friends' posts rarely make up the rest, so the query for
  // friendships would probably be wasted.
  if (mayFallShort && 2 * publicOrOwnCount < end) return undefined;
  const { posts, more } = await filterVisible(read, viewer, rows, end);
  if (mayFallShort && !more) return undefined;
  return { posts: posts.slice(offset), more };
}

/**
 * Returns the rows up to the (`limit` + 1)th post that is public or the viewer's own, or all rows if there are fewer such
 * posts. Also returns the number of these posts.
 */
function scanPrefix(viewer: number, rows: readonly PostRow[], limit: number) {
  let publicOrOwnCount = 0;
  const lastIndex = rows.findIndex((post) => {
    if (isPublicOrOwn(viewer, authorOf(post))) publicOrOwnCount += 1;
    return publicOrOwnCount > limit;
  });
  return { rows: lastIndex === -1 ? rows : rows.slice(0, lastIndex + 1), publicOrOwnCount };
}

export async function newestPosts(db: Database, limit: number): Promise<PostRow[]> {
  return selectPosts(db).orderBy(newestFirst).limit(limit).execute();
}

// 2. The wide window

/** Returns the page, or undefined if the wide window may be too small for it. */
async function readWideWindow(
  { read }: Stores,
  viewer: number,
  { limit, offset }: Page,
): Promise<PostsPage | undefined> {
  const end = offset + limit;
  if (end >= WIDE_WINDOW_POSTS) return undefined;
  const count = Math.min(WIDE_OVERFETCH_FACTOR * (end + 1), WIDE_WINDOW_POSTS);
  const friends = read.friendsOf(viewer);
  for (const size of new Set([count, WIDE_WINDOW_POSTS])) {
    const [newest, friendIds] = await Promise.all([read.newestIds(size), friends]);
    const visibleIds = firstVisibleIds(newest, new Set([viewer, ...friendIds]), end + 1);
    if (visibleIds.length <= end && newest.ids.length >= size) continue;
    const posts = await read.posts(visibleIds.slice(offset, end));
    return { posts: await recheckVisible(read, viewer, posts), more: visibleIds.length > end };
  }
  return undefined;
}

/** Returns the first `limit` ids of posts that are public or by one of these authors. */
export function firstVisibleIds(
  { ids, publicIndexes, privateIndexes }: NewestIds,
  authors: ReadonlySet<number>,
  limit: number,
): number[] {
  const indexes = publicIndexes.slice(0, limit);
  for (const author of authors) indexes.push(...(privateIndexes.get(author) ?? []));
  return indexes
    .sort((one, other) => one - other)
    .slice(0, limit)
    .map((index) => ids[index] as number);
}

/** The ids of the newest posts. Grouped, so that a request does not need to go through all of them. */
interface NewestIds {
  ids: readonly number[];
  /** The positions of public posts in `ids`, in ascending order. */
  publicIndexes: readonly number[];
  /** The positions of the posts of private accounts, by author. */
  privateIndexes: ReadonlyMap<number, readonly number[]>;
}

/**
 * Returns the ids of the newest posts. The query returns one row with JSON, because parsing thousands of rows would take too
 * long.
 */
export async function newestIds(db: Database, limit: number): Promise<NewestIds> {
  const { rows } = await sql<{ ids: number[]; private_author_ids: (number | null)[] }>`
    select coalesce(json_agg(id), '[]') as ids,
      coalesce(json_agg(private_author_id), '[]') as private_author_ids
    from (
      select posts.id, case when ${PUBLIC} then null else author_id end as private_author_id
      from posts ${withPrivacy}
      order by ${newestFirst} limit ${limit}
    ) newest`.execute(db);
  const { ids = [], private_author_ids = [] } = rows[0] ?? {};
  const publicIndexes: number[] = [];
  const privateIndexes = new Map<number, number[]>();
  for (const [index, author] of private_author_ids.entries()) {
    const indexes = author === null ? publicIndexes : privateIndexes.get(author);
    if (indexes) indexes.push(index);
    else if (author !== null) privateIndexes.set(author, [index]);
  }
  return { ids, publicIndexes, privateIndexes };
}

// 3. The viewer's own query

async function readByQuery(stores: Stores, viewer: number, page: Page, client?: Abortable): Promise<PostsPage> {
  const { db, read } = stores;
  const authors = [viewer, ...(await read.friendsOf(viewer))];
  const end = page.offset + page.limit;
  if (end > MAX_SHARED_POSTS) {
    return readPage(read, viewer, page, (query) => readDeepPage(stores, { publicOrBy: authors }, query, client));
  }
  const publicIds = await read.newestPublicIds(end + 1);
  const { posts, more } = await readPage(read, viewer, page, (query) =>
    postsByIdsOrAuthors(db, publicIds, authors, query),
  );
  // If a public post was deleted after its id was read, the page may have too few rows, although older posts follow.
  return { posts, more: more || publicIds.length > end };
}

/**
 * Returns the ids of the newest public posts. If public posts are rare, this scans all posts, in slices between which other
 * statements can run.
 *
 * @throws OverloadedError if the scan takes too long
 */
export async function newestPublicIds(db: Database, limit: number): Promise<number[]> {
  const signal = AbortSignal.timeout(MAX_SCAN_MS);
  try {
    return await findIdsInSlices(db, { publicOrBy: [] }, { limit, offset: 0 }, { signal });
  } catch (error) {
    throw error === signal.reason ? new OverloadedError() : error;
  }
}

/** Returns a page of the posts that have one of these ids or are by one of these authors. */
export async function postsByIdsOrAuthors(
  db: Database,
  ids: readonly number[],
  authors: readonly number[],
  page: Page,
): Promise<PostRow[]> {
  return selectPosts(db)
    .where('posts.id', 'in', mergedPage(ids.slice(0, page.offset + page.limit), authors, page))
    .orderBy(newestFirst)
    .execute();
}

/**
 * Builds the subquery that selects the ids of a page. It combines the posts that have these ids and the newest posts of each
 * author. The latter are read from an index. Limit and offset are literals, so that PostgreSQL plans each statement for its
 * offset.
 */
function mergedPage(ids: readonly number[], authors: readonly number[], { limit, offset }: Page) {
  return sql<number>`(
    select id from (
      (select posts.id, posts.created_at from posts where id = any(${idArray(ids)}))
      union
      (select p.id, p.created_at from unnest(${idArray(authors)}) as author (id)
       cross join lateral (
         select id, created_at from posts where author_id = author.id
         order by created_at desc, id desc limit ${sql.lit(offset + limit)}
       ) p)
      order by created_at desc, id desc limit ${sql.lit(limit)} offset ${sql.lit(offset)}
    ) page)`;
}
