import { authorOf, type FoundPost, type PostQuery, type PostRow } from './posts.js';
import type { Relations, RelationsQuery, ViewerLikes } from './relations.js';
import { canSee, type FriendsLookup, isPublicOrOwn, isVisible } from './visibility.js';

/** A post and its likes, as a viewer sees them. */
interface VisiblePost {
  post: PostRow;
  likes: ViewerLikes;
}

/** A page of a list. */
export interface PostsPage {
  posts: VisiblePost[];
  /** Whether older posts follow after the last one of this page. The page is then not empty. */
  more: boolean;
}

/** The batched lookups that this file uses: see `readers.ts`. */
export interface PostReaders {
  /** Returns a post, with its content only if it is public or the viewer's own: see `findPostsPublicOrOwn`. */
  postIfPublicOrOwn(query: PostQuery): Promise<FoundPost | undefined>;
  /** Returns the posts that exist, in the order of the ids. */
  posts(ids: readonly number[]): Promise<PostRow[]>;
  relations(query: RelationsQuery): Promise<Relations>;
  friends: FriendsLookup;
}

/**
 * Returns a post as the viewer sees it, or undefined if it is hidden or does not exist.
 *
 * Content is read only after it is known that the viewer may see it. A hidden post and one that does not exist take the
 * same two lookups, so the response time does not reveal which of the two it is. A friend's post takes two more lookups:
 * its content, and again the friendship, which must be read after the content.
 */
export async function findVisiblePost(read: PostReaders, viewer: number, id: number): Promise<VisiblePost | undefined> {
  const found = await read.postIfPublicOrOwn({ id, viewer });
  if (!found?.post && !(await canSee(viewer, found?.owner, read.friends))) return undefined;
  const rows = found?.post ? [found.post] : await read.posts([id]);
  return (await filterVisible(read, viewer, rows)).posts[0];
}

/**
 * Returns the first `limit` of these posts that the viewer may see, with their likes, and whether there are more. The posts of a
 * page are filtered after their rows were read, because a friendship may have ended since the page was selected.
 */
export async function filterVisible(
  read: PostReaders,
  viewer: number,
  rows: readonly PostRow[],
  limit = rows.length,
): Promise<PostsPage> {
  const { friends, likesOf } = await read.relations({
    user: viewer,
    others: rows.filter((post) => !isPublicOrOwn(viewer, authorOf(post))).map(({ author_id }) => author_id),
    posts: rows.map(({ id }) => id),
  });
  const visible = rows.filter((post) => isVisible(viewer, authorOf(post), friends));
  const posts = visible.slice(0, limit).map((post) => ({ post, likes: likesOf(post.id) }));
  return { posts, more: visible.length > limit };
}
