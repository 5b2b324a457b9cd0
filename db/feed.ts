import type { Database } from './postgres/index.js';
import { authorOf, type Page, type PostRow, postsByAuthor, postsPublicOrBy } from './posts.js';
import { type LikesSeen, type Readers, WIDE_WINDOW, WINDOW } from './readers.js';
import { isOpenTo, type Owner, sightOf } from './visibility.js';

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
}

/**
 * A page of what the viewer may see, newest first. The newest posts are the same for everybody, so one window of them serves
 * all who ask at once: of their rows, if a page can be expected there; of many more ids, for a viewer who may see few of
 * them. What lies beyond takes the viewer's own query.
 */
export async function readFeed(stores: Stores, viewer: number, page: Page): Promise<FeedPage> {
  return (
    (await fromRows(stores, viewer, page)) ?? (await fromIds(stores, viewer, page)) ?? fromQuery(stores, viewer, page)
  );
}

async function fromRows({ read }: Stores, viewer: number, { limit, offset }: Page): Promise<FeedPage | undefined> {
  const end = offset + limit;
  if (end >= WINDOW) return undefined;
  const wanted = Math.min(SPARE * (end + 1), WINDOW);
  const window = await read.newestPosts(wanted);
  const seen = await see(read, viewer, window, end);
  if (seen.total <= end && window.length >= wanted) return undefined;
  return { posts: seen.posts.slice(offset), more: seen.total > end };
}

async function fromIds({ read }: Stores, viewer: number, { limit, offset }: Page): Promise<FeedPage | undefined> {
  const end = offset + limit;
  if (end >= WIDE_WINDOW) return undefined;
  const [{ ids, closed }, friends] = await Promise.all([read.newestIds(WIDE_WINDOW), read.friendsOf(viewer)]);
  const known = new Set<number | null>([null, viewer, ...friends]);
  const visible = ids.filter((_, index) => known.has(closed[index] ?? null));
  if (visible.length <= end && ids.length >= WIDE_WINDOW) return undefined;
  const posts = await Promise.all(visible.slice(offset, end).map(read.post));
  return { posts: await seeAgain(read, viewer, posts), more: visible.length > end };
}

async function fromQuery({ db, read }: Stores, viewer: number, page: Page): Promise<FeedPage> {
  const friends = await read.friendsOf(viewer);
  const rows = await postsPublicOrBy(db, [viewer, ...friends], { ...page, limit: page.limit + 1 });
  return { posts: await seeAgain(read, viewer, rows.slice(0, page.limit)), more: rows.length > page.limit };
}

/** A page of the viewer's own posts, newest first. */
export async function readOwnPosts({ db, read }: Stores, viewer: number, page: Page): Promise<FeedPage> {
  const rows = await postsByAuthor(db, viewer, { ...page, limit: page.limit + 1 });
  return { posts: await seeAgain(read, viewer, rows.slice(0, page.limit)), more: rows.length > page.limit };
}

/**
 * What of a page is still there and may still be seen, now that its rows are read: a post may have gone, or a friendship have
 * ended, since it was chosen.
 */
async function seeAgain(read: Readers, viewer: number, page: readonly (PostRow | undefined)[]): Promise<SeenPost[]> {
  const rows = page.filter((post) => post !== undefined);
  return (await see(read, viewer, rows, rows.length)).posts;
}

/** Of these posts the first `most` that the viewer may see, with their likes, and of all of them how many. */
async function see(read: Readers, viewer: number, rows: readonly PostRow[], most: number) {
  const authors = rows.map(authorOf);
  const [sees, likes] = await Promise.all([
    sightOf(viewer, authors, read.friends),
    read.likes({ viewer, posts: rows.slice(0, reachOf(viewer, authors, most)).map(({ id }) => id) }),
  ]);
  const visible = rows.flatMap((post, index) => {
    const author = authors[index];
    return author && sees(author) ? [{ post, likes: likes[index] }] : [];
  });
  const posts = visible.slice(0, most).flatMap(({ post, likes }) => (likes ? [{ post, likes }] : []));
  return { posts, total: visible.length };
}

/** How many posts the first `most` that can be seen lie among, whoever is a friend. */
function reachOf(viewer: number, authors: readonly Owner[], most: number): number {
  let open = 0;
  const last = authors.findIndex((author) => {
    if (isOpenTo(viewer, author)) open += 1;
    return open === most;
  });
  return last === -1 ? authors.length : last + 1;
}
