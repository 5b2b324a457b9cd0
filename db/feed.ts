import { DEEP_OFFSET, readDeepPage } from './deep-pages.js';
import type { Database } from './postgres/index.js';
import { authorOf, type NewestIds, type Page, type PostRow, postsByAuthor, postsPublicOrBy } from './posts.js';
import { type Readers, WIDE_WINDOW, WINDOW } from './readers.js';
import type { LikesSeen } from './relations.js';
import type { Lane } from './support/lane.js';
import { canSee, isOpenTo } from './visibility.js';

/** A post and its likes, as the viewer sees them. */
export interface SeenPost {
  post: PostRow;
  likes: LikesSeen;
}

export interface FeedPage {
  posts: SeenPost[];
  /** Whether older ones follow. */
  more: boolean;
}

/** How many posts are read for each that is wanted: two of three may be hidden. */
const SPARE = 3;

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
  if (end >= WINDOW) return undefined;
  const wanted = Math.min(SPARE * (end + 1), WINDOW);
  const window = await read.newestPosts(wanted);
  const { rows, open } = reachOf(viewer, window, end);
  const mayFallShort = open <= end && window.length >= wanted;
  // Friends' posts seldom make up half a page: it would be looked for them in vain.
  if (mayFallShort && 2 * open < end) return undefined;
  const { posts, more } = await see(read, viewer, rows, end);
  if (mayFallShort && !more) return undefined;
  return { posts: posts.slice(offset), more };
}

async function fromIds({ read }: Stores, viewer: number, { limit, offset }: Page): Promise<FeedPage | undefined> {
  const end = offset + limit;
  if (end >= WIDE_WINDOW) return undefined;
  const [newest, friends] = await Promise.all([read.newestIds(WIDE_WINDOW), read.friendsOf(viewer)]);
  const visible = firstVisible(newest, new Set([viewer, ...friends]), end + 1);
  if (visible.length <= end && newest.ids.length >= WIDE_WINDOW) return undefined;
  const posts = await read.posts(visible.slice(offset, end));
  return { posts: await seeAgain(read, viewer, posts), more: visible.length > end };
}

/** The first `most` of these that are open to all or whose authors are among these people. */
function firstVisible({ ids, closed }: NewestIds, people: ReadonlySet<number>, most: number): number[] {
  const visible: number[] = [];
  for (const [index, id] of ids.entries()) {
    const author = closed[index] ?? null;
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
  return { posts: await seeAgain(read, viewer, rows.slice(0, page.limit)), more: rows.length > page.limit };
}

/** Up to this limit a page is at most a megabyte. */
const USUAL_LIMIT = 20;

/**
 * Returns a page of the viewer's own posts, newest first. The feed's rows are shared by all who read it, but these are not:
 * only a few large pages are read at a time, or their rows would fill the memory.
 */
export async function readOwnPosts(stores: Stores, viewer: number, page: Page, client?: Client): Promise<FeedPage> {
  const readPage = () => readOwnPage(stores, viewer, page, client);
  return page.limit > USUAL_LIMIT ? stores.largePages.run(readPage, client?.signal) : readPage();
}

async function readOwnPage(stores: Stores, viewer: number, page: Page, client?: Client): Promise<FeedPage> {
  const { read } = stores;
  const query = { ...page, limit: page.limit + 1 };
  const rows = await (page.offset < DEEP_OFFSET
    ? postsByAuthor(stores.db, viewer, query)
    : readDeepPage(stores, { by: viewer }, query, client?.signal));
  return { posts: await seeAgain(read, viewer, rows.slice(0, page.limit)), more: rows.length > page.limit };
}

/**
 * What of a page is still there and may still be seen, now that its rows are read: a post may have gone, or a friendship have
 * ended, since it was chosen.
 */
async function seeAgain(read: Readers, viewer: number, page: readonly PostRow[]): Promise<SeenPost[]> {
  return (await see(read, viewer, page, page.length)).posts;
}

/**
 * Returns a post as the viewer sees it, or undefined if it is hidden or does not exist. Until the viewer is known to be
 * allowed, no content is read, and both refusals take the same two look-ups. A friend's post takes two more: its content,
 * and the friendship once again, which has to be read after the content.
 */
export async function findVisiblePost(read: Readers, viewer: number, id: number): Promise<SeenPost | undefined> {
  const found = await read.openPost({ id, viewer });
  if (found?.post) return recheckOne(read, viewer, found.post);
  if (!(await canSee(viewer, found?.owner, read.friends))) return undefined;
  const [post] = await read.posts([id]);
  return post && recheckOne(read, viewer, post);
}

async function recheckOne(read: Readers, viewer: number, post: PostRow): Promise<SeenPost | undefined> {
  return (await see(read, viewer, [post], 1)).posts[0];
}

/** Of these posts the first `most` that the viewer may see, with their likes, and whether there are more. */
async function see(read: Readers, viewer: number, rows: readonly PostRow[], most: number): Promise<FeedPage> {
  const { friends, likesOf } = await read.ties({
    person: viewer,
    others: rows.filter((post) => !isOpenTo(viewer, authorOf(post))).map(({ author_id }) => author_id),
    posts: rows.map(({ id }) => id),
  });
  const visible = rows.filter((post) => isOpenTo(viewer, authorOf(post)) || friends.has(post.author_id));
  const posts = visible.slice(0, most).map((post) => ({ post, likes: likesOf(post.id) }));
  return { posts, more: visible.length > most };
}

/**
 * Those of the rows among which the first `most` that can be seen lie, and one more, whoever is a friend; and how many of
 * them are open to all.
 */
function reachOf(viewer: number, rows: readonly PostRow[], most: number): { rows: readonly PostRow[]; open: number } {
  let open = 0;
  const last = rows.findIndex((post) => {
    if (isOpenTo(viewer, authorOf(post))) open += 1;
    return open > most;
  });
  return { rows: last === -1 ? rows : rows.slice(0, last + 1), open };
}
