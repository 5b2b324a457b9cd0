import type { Page } from '../db/feed.js';
import { createPost, deletePosts, updatePost } from '../db/post-writes.js';
import { findPostImageOwner } from '../db/posts.js';
import { findVisiblePost, type PostsPage } from '../db/visible-posts.js';
import type { PostsHandlers } from '../generated/handlers.js';
import type { AppContext } from './context.js';
import { decodeCursor, encodeCursor } from './cursors.js';
import { errorResponse, invalidToken } from './errors.js';
import { serveImage } from './images.js';
import type { Handlers, Request } from './operation.js';
import { imageFileOf, quotaExceeded } from './uploads.js';
import { postView } from './views.js';

/**
 * The response for a post that does not exist, is hidden, or belongs to another user. It must not reveal which of these is
 * true.
 */
const NO_SUCH_POST = errorResponse('not_found', 'There is no such post.');

export const posts: PostsHandlers<Handlers> = {
  async listPosts({ user, query, client }, { feed }) {
    return pageResponse('/posts', query, await feed.readFeed(user.account.id, pageOf(query), client));
  },

  async listOwnPosts({ user, query, client }, { feed }) {
    return pageResponse('/posts/me', query, await feed.readOwnPosts(user.account.id, pageOf(query), client));
  },

  async getPost({ user, path }, context) {
    const post = await findPostView(context, user.account.id, path.id);
    // The contract reserves `comments`, which is always empty.
    return post ? { status: 200, body: { ...post, comments: [] } } : NO_SUCH_POST;
  },

  async getPostImage(request, context) {
    const owner = await findPostImageOwner(context.db, request.path.filename);
    return serveImage(context, owner, request);
  },

  async createPost({ user, headerParameters, body: { title, text, image } }, context) {
    const creation = await createPost(context, {
      author: user.account.id,
      title,
      text,
      image: imageFileOf(image),
      idempotencyKey: headerParameters['Idempotency-Key'],
      storageMaxBytes: context.config.account.storageMaxBytes,
    });
    switch (creation.outcome) {
      case 'created':
        return {
          status: 201,
          headers: { Location: `/posts/${creation.post.id}` },
          body: postView(creation.post, { count: 0, liked: false }),
        };
      case 'keyReused':
        return errorResponse('idempotency_key_reused', 'The Idempotency-Key was already used with another form.');
      case 'inProgress':
        return errorResponse(
          'idempotency_key_in_progress',
          'A request with this Idempotency-Key is still in progress.',
        );
      case 'quotaExceeded':
        return quotaExceeded(context);
      case 'accountDeleted':
        throw invalidToken();
    }
  },

  async editPost({ user, query, body: { title, text, image, remove_image } }, context) {
    const { outcome } = await updatePost(context, user.account.id, query.id, {
      title,
      text,
      image: remove_image ? null : imageFileOf(image),
      storageMaxBytes: context.config.account.storageMaxBytes,
    });
    if (outcome === 'notFound') return NO_SUCH_POST;
    if (outcome === 'quotaExceeded') return quotaExceeded(context);
    const post = await findPostView(context, user.account.id, query.id);
    return post ? { status: 200, body: post } : NO_SUCH_POST;
  },

  async deletePost({ user, query }, context) {
    const deleted = await deletePosts(context, user.account.id, [query.id]);
    return deleted === 1 ? { status: 200, body: { message: 'The post is deleted.' } } : NO_SUCH_POST;
  },

  async likePost({ user, query }, context) {
    return setLike(context, user.account.id, query.id, true);
  },

  async unlikePost({ user, query }, context) {
    return setLike(context, user.account.id, query.id, false);
  },
};

/** Returns the view of a post, or undefined if the viewer cannot see it. */
async function findPostView({ read }: AppContext, viewer: number, id: number) {
  const visible = await findVisiblePost(read, viewer, id);
  return visible && postView(visible.post, visible.likes);
}

type PageQuery = Request<'listPosts'>['query'];

const DEFAULT_LIMIT = 20;

const pageOf = ({ limit = DEFAULT_LIMIT, offset = 0, cursor }: PageQuery): Page => {
  return { limit, offset, after: cursor === undefined ? undefined : decodeCursor(cursor) };
};

/**
 * Returns the response with a page of posts, and a `Link` to the next page if there is one. The link contains a cursor, unless
 * the request contained an offset.
 */
function pageResponse(path: string, { limit = DEFAULT_LIMIT, offset }: PageQuery, { posts, more }: PostsPage) {
  const body = posts.map(({ post, likes }) => postView(post, likes));
  const last = posts.at(-1)?.post;
  if (!last || !more) return { status: 200, body } as const;
  const next =
    offset === undefined
      ? `cursor=${encodeCursor({ createdAt: last.created_at, id: last.id })}`
      : `offset=${offset + limit}`;
  return { status: 200, headers: { Link: `<${path}?limit=${limit}&${next}>; rel="next"` }, body } as const;
}

async function setLike({ write }: AppContext, user: number, post: number, liked: boolean) {
  const outcome = await write.setLike({ user, post, liked });
  if (outcome === 'accountDeleted') throw invalidToken();
  if (outcome === 'notVisible') return NO_SUCH_POST;
  return { status: 200, body: { message: liked ? 'You like the post.' : 'You do not like the post.' } } as const;
}
