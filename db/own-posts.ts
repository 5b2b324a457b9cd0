import type { Abortable } from 'node:events';
import { readDeepPage } from './deep-pages.js';
import type { Database } from './postgres/index.js';
import { type Page, postsByAuthor } from './posts.js';
import type { ConcurrencyLimiter } from './support/concurrency-limiter.js';
import { type PostReaders, type PostsPage, readPage } from './visible-posts.js';

/** The rows of a page of up to this many posts take less than a megabyte. The limit for large pages does not apply to it. */
const SMALL_PAGE_LIMIT = 20;

/** The limit for large pages. A page of a hundred long posts takes about 15 MB while it is read and serialized. */
export const LARGE_PAGE_LIMITS = { concurrency: 4, maxWaitMs: 3000 };

/** Pages at this offset or a larger one are read in slices: see `deep-pages.ts`. */
const MIN_DEEP_OFFSET = 1000;

const isDeep = ({ offset }: Page) => offset >= MIN_DEEP_OFFSET;

interface Stores {
  db: Database;
  read: PostReaders;
  deepPages: ConcurrencyLimiter;
  largePages: ConcurrencyLimiter;
}

/**
 * Returns a page of a user's own posts, newest first. A concurrency limit for large pages bounds the memory of their rows:
 * unlike in the feed, requests of different users cannot share rows.
 *
 * @throws OverloadedError, ClientDisconnectedError
 */
export async function readOwnPosts(stores: Stores, user: number, page: Page, client?: Abortable): Promise<PostsPage> {
  const read = () =>
    readPage(stores.read, user, page, (query) =>
      isDeep(query) ? readDeepPage(stores, { by: user }, query, client) : postsByAuthor(stores.db, user, query),
    );
  // Deep pages have a limit of their own. While they wait for it, they must not occupy the slots of other large pages.
  const isLarge = page.limit > SMALL_PAGE_LIMIT && !isDeep(page);
  return isLarge ? stores.largePages.run(read, client?.signal) : read();
}
