import type { SocialGraph } from './graph/index.js';
import type { Database } from './postgres/index.js';
import { authorOf, type Page, type PostRow, postsByAuthor, postsPublicOrBy } from './posts.js';
import { type LikesSeen, type Readers, WINDOW } from './readers.js';
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
  graph: SocialGraph;
  read: Readers;
}

/**
 * A page of what the viewer may see, newest first. The newest posts are the same rows for everybody, so one window of them
 * serves all who ask at once; a page that reaches beyond it takes the viewer's own query.
 */
export async function readFeed({ db, graph, read }: Stores, viewer: number, page: Page): Promise<FeedPage> {
  const end = page.offset + page.limit;
  if (end < WINDOW) {
    const wanted = Math.min(SPARE * (end + 1), WINDOW);
    const window = await read.newestPosts(wanted);
    const seen = await see(read, viewer, window, end);
    if (seen.total > end || window.length < wanted) {
      return { posts: seen.posts.slice(page.offset), more: seen.total > end };
    }
  }
  const friends = await graph.friendsOf(viewer);
  const rows = await postsPublicOrBy(db, [viewer, ...friends], { ...page, limit: page.limit + 1 });
  // Friendship is asked again, now that the rows are read: it may have ended in between.
  const { posts } = await see(read, viewer, rows.slice(0, page.limit), page.limit);
  return { posts, more: rows.length > page.limit };
}

/** A page of the viewer's own posts, newest first. */
export async function readOwnPosts({ db, read }: Stores, viewer: number, page: Page): Promise<FeedPage> {
  const rows = await postsByAuthor(db, viewer, { ...page, limit: page.limit + 1 });
  const { posts } = await see(read, viewer, rows.slice(0, page.limit), page.limit);
  return { posts, more: rows.length > page.limit };
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
