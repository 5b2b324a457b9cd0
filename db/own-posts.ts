import { MIN_DEEP_OFFSET, readDeepPage } from './deep-pages.js';
import type { Database } from './postgres/index.js';
import { type Page, postsByAuthor } from './posts.js';
import type { Lane } from './support/lane.js';
import { type PostReaders, type PostsPage, readPage } from './visible-posts.js';

/** A page of up to this many posts takes at most a megabyte. */
const SMALL_PAGE_LIMIT = 20;

interface Stores {
  db: Database;
  read: PostReaders;
  deepPages: Lane;
  largePages: Lane;
}

/**
 * Returns a page of a user's own posts, newest first. Only a few large pages are read at the same time, to bound the memory
 * for their rows: unlike those of the feed, no two users share them.
 *
 * @param client its signal aborts when the client disconnects
 * @throws OverloadedError
 */
export async function readOwnPosts(
  stores: Stores,
  user: number,
  page: Page,
  client?: { readonly signal: AbortSignal },
): Promise<PostsPage> {
  const read = () =>
    readPage(stores.read, user, page, (query) =>
      query.offset < MIN_DEEP_OFFSET
        ? postsByAuthor(stores.db, user, query)
        : readDeepPage(stores, { by: user }, query, client?.signal),
    );
  return page.limit > SMALL_PAGE_LIMIT ? stores.largePages.run(read, client?.signal) : read();
}
