import type { Abortable } from 'node:events';
import type { Database } from './postgres/index.js';
import { authorOf, type PostRow, selectPosts } from './posts.js';
import type { Readers } from './readers.js';
import { batched } from './support/batch.js';
import { BoundedQueue, type QueuedWork } from './support/bounded-queue.js';
import { type Observer, observedBatches } from './support/observer.js';
import { isPublicOrOwn, isVisible, type Owner } from './visibility.js';
import { filterVisible, type PostsPage } from './visible-posts.js';

/*
 * The lists of posts, newest first, one page at a time: the feed, which contains all posts that a user may see, and a user's own
 * posts. A page starts after a post (keyset pagination), or at an offset.
 *
 * A page of the feed is read in one of two ways:
 *
 *   1. The window: reads the newest posts and filters them for the viewer. The newest posts of all are the same for all users,
 *      so concurrent requests share one query for them (see `support/batch.ts`). The window serves nearly every page that
 *      starts at the top or after a post.
 *   2. The scan: reads only what decides who may see a post, in slices, until it has passed the offset and found the ids of the
 *      page. It serves larger offsets, and viewers who may see only a few of the posts, because most accounts are private.
 *      Concurrent requests share the first slice. One scan at a time continues with further slices. Other statements run
 *      between two slices, and a scan ends when its client disconnects.
 *
 * Hidden posts are read too, and filtered out afterwards. This is safe for a list, because its response time does not reveal
 * whether a particular post exists. Friendships are read after the rows of the posts that a page shows: see `visibility.ts`.
 */

/** The maximum number of rows in the window. */
export const WINDOW_POSTS = 200;

/** The window reads this many posts for each post that the page needs, so two out of three may be hidden. */
const OVERFETCH_FACTOR = 3;

/** The number of posts in a slice. Reading it takes PostgreSQL a few milliseconds. */
export const SLICE_POSTS = 2000;

/** Pages of own posts at this offset or a larger one are scanned. */
const MIN_SCANNED_OFFSET = 1000;

/** The rows of a page of up to this many posts take less than a megabyte. */
const SMALL_PAGE_LIMIT = 20;

/** A process continues only one scan at a time beyond the first slice. */
const SCAN_LIMITS = { maxRunning: 1, maxWaiting: 100, maxWaitMs: 3000 };

/**
 * The limit for pages of more rows than `SMALL_PAGE_LIMIT` that requests cannot share. A hundred rows with long texts take about
 * 15 MB while they are read and serialized.
 */
const LARGE_PAGE_LIMITS = { maxRunning: 4, maxWaiting: 1000, maxWaitMs: 3000 };

/** The sort key of a post in lists. */
export interface PostKey {
  /** In a format that PostgreSQL can parse. */
  createdAt: string;
  id: number;
}

export interface Page {
  limit: number;
  offset: number;
  /** The page starts after this post, which need not exist. Without it, the list starts with the newest post. */
  after?: PostKey | undefined;
}

/** The position in a list of posts: of all authors or of one. */
interface ListPosition {
  author?: number | undefined;
  after?: PostKey | undefined;
}

export interface Feed {
  /** Returns a page of the feed as `viewer` sees it. @throws OverloadedError, ClientDisconnectedError */
  readFeed(viewer: number, page: Page, client?: Abortable): Promise<PostsPage>;
  /** Returns a page of a user's own posts. @throws OverloadedError, ClientDisconnectedError */
  readOwnPosts(user: number, page: Page, client?: Abortable): Promise<PostsPage>;
}

export function createFeed({ db, read }: { db: Database; read: Readers }, observer: Observer): Feed {
  const scans = new BoundedQueue(SCAN_LIMITS);
  const largePages = new BoundedQueue(LARGE_PAGE_LIMITS);

  /** Returns at least this many of the newest posts, or all posts if there are fewer. */
  const newestPosts = batched(
    async (counts: number[]) => {
      const posts = await readPosts(db, {}, Math.max(...counts));
      return counts.map(() => posts);
    },
    observedBatches(observer, 'newestPosts'),
  );

  const firstSlice = batched(
    async (calls: null[]) => {
      const slice = await readSlice(db, {});
      return calls.map(() => slice);
    },
    observedBatches(observer, 'firstSlice'),
  );

  /** Reads the rows of a page, within the limit for large pages if it is one. */
  const ifLarge = <Result>({ limit }: Page, turn: QueuedWork, readRows: () => Promise<Result>) =>
    limit > SMALL_PAGE_LIMIT ? largePages.run(turn, readRows) : readRows();

  async function readFeed(viewer: number, page: Page, client?: Abortable): Promise<PostsPage> {
    return (await readWindow(viewer, page, client)) ?? readByScan(viewer, {}, page, client);
  }

  // 1. The window

  /** Returns the page, or undefined if the window may be too small for it. */
  async function readWindow(viewer: number, page: Page, client?: Abortable): Promise<PostsPage | undefined> {
    const { after } = page;
    const end = page.offset + page.limit;
    const count = Math.min(OVERFETCH_FACTOR * (end + 1), WINDOW_POSTS);
    if (count <= end) return undefined;
    if (!after) return filterWindow(viewer, page, await newestPosts(count), count);
    return largePages.run(turnOf(viewer, client), async () =>
      filterWindow(viewer, page, await readPosts(db, { after }, count), count),
    );
  }

  /** Returns the page, or undefined if older posts than those in the window may belong to it. */
  async function filterWindow(
    viewer: number,
    { offset, limit }: Page,
    window: readonly PostRow[],
    count: number,
  ): Promise<PostsPage | undefined> {
    const end = offset + limit;
    const candidates = takeUntil(window, end + 1, (post) => isPublicOrOwn(viewer, authorOf(post)));
    const { posts, more } = await filterVisible(read, viewer, candidates, end);
    return more || window.length < count ? { posts: posts.slice(offset), more } : undefined;
  }

  // 2. The scan

  /** Reads a page in slices, of the feed or of the viewer's own posts. */
  async function readByScan(
    viewer: number,
    list: Pick<ListPosition, 'author'>,
    page: Page,
    client?: Abortable,
  ): Promise<PostsPage> {
    for (;;) {
      client?.signal?.throwIfAborted();
      const ids = await findVisibleIds(viewer, list, page, client);
      const { posts } = await ifLarge(page, turnOf(viewer, client), async () =>
        filterVisible(read, viewer, await read.posts(ids.slice(0, page.limit))),
      );
      const more = ids.length > page.limit;
      // Repeated if the posts of the page were deleted or hidden meanwhile, because the next page starts after one of them.
      if (posts.length > 0 || !more) return { posts, more };
    }
  }

  /** Returns the ids of a page, and of one more post if there is one. */
  async function findVisibleIds(
    viewer: number,
    { author }: Pick<ListPosition, 'author'>,
    { limit, offset, after }: Page,
    client?: Abortable,
  ): Promise<number[]> {
    const friends = new Set(author === undefined ? await read.friendsOf(viewer) : []);
    const ids: number[] = [];
    let skip = offset;
    /** Adds the visible posts of a slice to the page. Returns whether the scan is complete. */
    const add = (slice: Slice) => {
      const visible = slice.posts.filter(({ owner }) => isVisible(viewer, owner, friends));
      for (const { id } of visible.slice(skip, skip + limit + 1 - ids.length)) ids.push(id);
      skip = Math.max(0, skip - visible.length);
      return ids.length > limit || slice.posts.length < SLICE_POSTS;
    };

    let last = after;
    if (author === undefined && !after) {
      const slice = await firstSlice(null);
      if (add(slice)) return ids;
      last = slice.last;
    }
    return scans.run(turnOf(viewer, client), async () => {
      for (;;) {
        const slice = await readSlice(db, { author, after: last });
        if (add(slice)) return ids;
        client?.signal?.throwIfAborted();
        last = slice.last;
      }
    });
  }

  /**
   * Returns a page of a user's own posts. Pages at a large offset wait for a scan before they are read, and must not occupy the
   * slots of other large pages meanwhile.
   */
  async function readOwnPosts(user: number, page: Page, client?: Abortable): Promise<PostsPage> {
    const { limit, offset, after } = page;
    if (offset >= MIN_SCANNED_OFFSET) return readByScan(user, { author: user }, page, client);
    const readPage = async () => {
      const rows = await readPosts(db, { author: user, after }, limit + 1, offset);
      const { posts } = await filterVisible(read, user, rows.slice(0, limit));
      return { posts, more: rows.length > limit };
    };
    return ifLarge(page, turnOf(user, client), readPage);
  }

  return { readFeed, readOwnPosts };
}

/** Returns how a request waits in a queue: users take turns. */
const turnOf = (viewer: number, client?: Abortable): QueuedWork => ({ key: String(viewer), signal: client?.signal });

/** Returns the first items, up to the one that is the `count`th to meet the condition. */
function takeUntil<Item>(items: readonly Item[], count: number, meets: (item: Item) => boolean): readonly Item[] {
  let met = 0;
  const end = items.findIndex((item) => {
    if (meets(item)) met += 1;
    return met === count;
  });
  return end === -1 ? items : items.slice(0, end + 1);
}

/** Builds a query for the posts of a list, newest first. */
function selectList(db: Database, { author, after }: ListPosition) {
  let query = selectPosts(db);
  if (author !== undefined) query = query.where('posts.author_id', '=', author);
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('posts.created_at', 'posts.id'), '<', tuple(after.createdAt, after.id)),
    );
  return query.orderBy('posts.created_at', 'desc').orderBy('posts.id', 'desc');
}

export const readPosts = (db: Database, position: ListPosition, limit: number, offset = 0): Promise<PostRow[]> =>
  selectList(db, position).limit(limit).offset(offset).execute();

/** A part of a list. */
interface Slice {
  /** All posts of the slice, visible or not. Fewer than `SLICE_POSTS` at the end of the list. */
  posts: readonly { id: number; owner: Owner }[];
  /** The last of these posts. Undefined if the slice is empty. */
  last: PostKey | undefined;
}

/**
 * Reads the next slice of a list. The query returns one row with JSON, because parsing thousands of rows would take too long.
 * It reads no content: PostgreSQL omits the columns of the subquery that are not used.
 */
async function readSlice(db: Database, position: ListPosition): Promise<Slice> {
  const { ids, authors, audiences, createdAt } = await db
    .selectFrom(selectList(db, position).limit(SLICE_POSTS).as('slice'))
    .select(({ fn }) => [
      fn.jsonAgg('slice.id').as('ids'),
      fn.jsonAgg('slice.author_id').as('authors'),
      fn.jsonAgg('slice.author_audience').as('audiences'),
      // The time of the last post, since the list is in descending order.
      fn.min('slice.created_at').as('createdAt'),
    ])
    .executeTakeFirstOrThrow();
  const posts = (ids ?? []).map((id, index) => {
    return { id, owner: { id: authors?.[index] as number, audience: audiences?.[index] ?? 'everybody' } };
  });
  const last = posts.at(-1);
  return { posts, last: last && { createdAt, id: last.id } };
}
