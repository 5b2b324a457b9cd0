import type { SocialGraph } from './graph/index.js';
import type { Database } from './postgres/index.js';
import { authorOf, type Page, type PostRow, postsPublicOrBy } from './posts.js';
import { type Readers, WINDOW } from './readers.js';
import { filterVisible } from './visibility.js';

export interface FeedPage {
  posts: PostRow[];
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
    const visible = await filterVisible(viewer, window, authorOf, read.friends);
    if (visible.length > end || window.length < wanted) {
      return { posts: visible.slice(page.offset, end), more: visible.length > end };
    }
  }
  const friends = await graph.friendsOf(viewer);
  const rows = await postsPublicOrBy(db, [viewer, ...friends], { ...page, limit: page.limit + 1 });
  // Asked again, now that the rows are read: a friendship may have ended in between.
  const posts = await filterVisible(viewer, rows.slice(0, page.limit), authorOf, read.friends);
  return { posts, more: rows.length > page.limit };
}
