import { DEEP_OFFSET, readDeepPage } from './deep-pages.js';
import type { Database } from './postgres/index.js';
import { authorOf, type NewestIds, type Page, type PostRow, postsByAuthor, postsPublicOrBy } from './posts.js';
import { type Readers, WIDE_WINDOW_POSTS, WINDOW_POSTS } from './readers.js';
import type { ViewerLikes } from './relations.js';
import type { Lane } from './support/lane.js';
import { canSee, isPublicOrOwn } from './visibility.js';

/** A post and its likes, as the viewer sees them. */
export interface VisiblePost {
  post: PostRow;
  likes: ViewerLikes;
}

export interface FeedPage {
  posts: VisiblePost[];
  /** Whether older ones follow. */
  more: boolean;
}

/** How many posts are read for each that is wanted: two of three may be hidden. */
const OVERFETCH_FACTOR = 3;

interface Stores {
  db: Database;
  read: Readers;
  deepPages: Lane;
  largePages: Lane;
}

/** Who waits for a page. The signal is read for deep pages alone, and aborts when the client leaves. */
interface Client {
  readonly signal: AbortSignal;
}

/**
 * A page of what the viewer may see, newest first. The newest posts are the same for everybody, so one window of them serves
 * all who ask at once: of their rows, if a page can be expected there; of many more ids, for a viewer who may see few of
 * them. What lies beyond takes the viewer's own query. Rows are read before they are filtered: a list refuses nobody, so its
 * time does not tell whether a certain post exists.
 */
export async function readFeed(stores: Stores, viewer: number, page: Page, client?: Client): Promise<FeedPage> {
  return (
    (await fromRows(stores, viewer, page)) ??
    (await fromIds(stores, viewer, page)) ??
    fromQuery(stores, viewer, page, client)
  );
}

async function fromRows({ read }: Stores, viewer: number, { limit, offset }: Page): Promise<FeedPage | undefined> {
  const end = offset + limit;
  if (end >= WINDOW_POSTS) return undefined;
  const wanted = Math.min(OVERFETCH_FACTOR * (end + 1), WINDOW_POSTS);
  const window = await read.newestPosts(wanted);
  const { rows, open } = scanPrefix(viewer, window, end);
  const mayFallShort = open <= end && window.length >= wanted;
  // Friends' posts seldom make up half a page: it would be looked for them in vain.
  if (mayFallShort && 2 * open < end) return undefined;
  const { posts, more } = await filterVisible(read, viewer, rows, end);
  if (mayFallShort && !more) return undefined;
  return { posts: posts.slice(offset), more };
}

async function fromIds({ read }: Stores, viewer: number, { limit, offset }: Page): Promise<FeedPage | undefined> {
  const end = offset + limit;
  if (end >= WIDE_WINDOW_POSTS) return undefined;
  const [newest, friends] = await Promise.all([read.newestIds(WIDE_WINDOW_POSTS), read.friendsOf(viewer)]);
  const visible = firstVisible(newest, new Set([viewer, ...friends]), end + 1);
  if (visible.length <= end && newest.ids.length >= WIDE_WINDOW_POSTS) return undefined;
  const posts = await read.posts(visible.slice(offset, end));
  return { posts: await recheckVisible(read, viewer, posts), more: visible.length > end };
}

/** The first `most` of these that are open to all or whose authors are among these people. */
function firstVisible({ ids, privateAuthorIds }: NewestIds, people: ReadonlySet<number>, most: number): number[] {
  const visible: number[] = [];
  for (const [index, id] of ids.entries()) {
    const author = privateAuthorIds[index] ?? null;
    if (author !== null && !people.has(author)) continue;
    visible.push(id);
    if (visible.length === most) break;
  }
  return visible;
}

async function fromQuery(stores: Stores, viewer: number, page: Page, client?: Client): Promise<FeedPage> {
  const { read } = stores;
  const friends = await read.friendsOf(viewer);
  const authors = [viewer, ...friends];
  const query = { ...page, limit: page.limit + 1 };
  const rows = await (page.offset < DEEP_OFFSET
    ? postsPublicOrBy(stores.db, authors, query)
    : readDeepPage(stores, { publicOrBy: authors }, query, client?.signal));
  return { posts: await recheckVisible(read, viewer, rows.slice(0, page.limit)), more: rows.length > page.limit };
}

/** Up to this limit a page is at most a megabyte. */
const SMALL_PAGE_LIMIT = 20;

/**
 * Returns a page of the viewer's own posts, newest first. The feed's rows are shared by all who read it, but these are not:
 * only a few large pages are read at a time, or their rows would fill the memory.
 */
export async function readOwnPosts(stores: Stores, viewer: number, page: Page, client?: Client): Promise<FeedPage> {
  const readPage = () => readOwnPage(stores, viewer, page, client);
  return page.limit > SMALL_PAGE_LIMIT ? stores.largePages.run(readPage, client?.signal) : readPage();
}

async function readOwnPage(stores: Stores, viewer: number, page: Page, client?: Client): Promise<FeedPage> {
  const { read } = stores;
  const query = { ...page, limit: page.limit + 1 };
  const rows = await (page.offset < DEEP_OFFSET
    ? postsByAuthor(stores.db, viewer, query)
    : readDeepPage(stores, { by: viewer }, query, client?.signal));
  return { posts: await recheckVisible(read, viewer, rows.slice(0, page.limit)), more: rows.length > page.limit };
}

/**
 * What of a page is still there and may still be seen, now that its rows are read: a post may have gone, or a friendship have
 * ended, since it was chosen.
 */
async function recheckVisible(read: Readers, viewer: number, page: readonly PostRow[]): Promise<VisiblePost[]> {
  return (await filterVisible(read, viewer, page, page.length)).posts;
}

/**
 * Returns a post as the viewer sees it, or undefined if it is hidden or does not exist. Until the viewer is known to be
 * allowed, no content is read, and both refusals take the same two look-ups. A friend's post takes two more: its content,
 * and the friendship once again, which has to be read after the content.
 */
export async function findVisiblePost(read: Readers, viewer: number, id: number): Promise<VisiblePost | undefined> {
  const found = await read.postIfPublicOrOwn({ id, viewer });
  if (found?.post) return recheckPost(read, viewer, found.post);
  if (!(await canSee(viewer, found?.owner, read.friends))) return undefined;
  const [post] = await read.posts([id]);
  return post && recheckPost(read, viewer, post);
}

async function recheckPost(read: Readers, viewer: number, post: PostRow): Promise<VisiblePost | undefined> {
  return (await filterVisible(read, viewer, [post], 1)).posts[0];
}

/** Of these posts the first `most` that the viewer may see, with their likes, and whether there are more. */
async function filterVisible(read: Readers, viewer: number, rows: readonly PostRow[], most: number): Promise<FeedPage> {
  const { friends, likesOf } = await read.relations({
    person: viewer,
    others: rows.filter((post) => !isPublicOrOwn(viewer, authorOf(post))).map(({ author_id }) => author_id),
    posts: rows.map(({ id }) => id),
  });
  const visible = rows.filter((post) => isPublicOrOwn(viewer, authorOf(post)) || friends.has(post.author_id));
  const posts = visible.slice(0, most).map((post) => ({ post, likes: likesOf(post.id) }));
  return { posts, more: visible.length > most };
}

/**
 * Those of the rows among which the first `most` that can be seen lie, and one more, whoever is a friend; and how many of
 * them are open to all.
 */
function scanPrefix(
  viewer: number,
  rows: readonly PostRow[],
  most: number,
): { rows: readonly PostRow[]; open: number } {
  let open = 0;
  const last = rows.findIndex((post) => {
    if (isPublicOrOwn(viewer, authorOf(post))) open += 1;
    return open > most;
  });
  return { rows: last === -1 ? rows : rows.slice(0, last + 1), open };
}
