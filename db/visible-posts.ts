import { authorOf, type PostRow } from './posts.js';
import type { Relations, RelationsQuery, ViewerLikes } from './relations.js';
import { canSee, type FriendsLookup, isPublicOrOwn, isVisible, type Owner } from './visibility.js';

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
  /** Returns the owner of a post, or undefined if the post does not exist. */
  postOwner(id: number): Promise<Owner | undefined>;
  /** Returns the posts that exist, in the order of the ids. */
  posts(ids: readonly number[]): Promise<PostRow[]>;
  relations(query: RelationsQuery): Promise<Relations>;
  friends: FriendsLookup;
}

/**
 * Returns a post as the viewer sees it, or undefined if it is hidden or does not exist.
 *
 * Content is read only after it is known that the viewer may see it, and a missing post has the same lookups as a hidden one:
 * otherwise, the response time would reveal which of the two it is. The friendship is read again after the content.
 */
export async function findVisiblePost(read: PostReaders, viewer: number, id: number): Promise<VisiblePost | undefined> {
  if (!(await canSee(viewer, await read.postOwner(id), read.friends))) return undefined;
  return (await filterVisible(read, viewer, await read.posts([id]))).posts[0];
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
