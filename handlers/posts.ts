import { readFeed } from '../db/feed.js';
import { readOwnPosts } from '../db/own-posts.js';
import { createPost, deletePost, updatePost } from '../db/post-writes.js';
import { findPostImageOwner, type Page } from '../db/posts.js';
import { findVisiblePost, type VisiblePost } from '../db/visible-posts.js';
import type { PostsHandlers } from '../generated/handlers.js';
import type { AppContext } from './context.js';
import { errorResponse, invalidToken } from './errors.js';
import { serveImage } from './images.js';
import type { Handlers } from './operation.js';
import { imageFileOf, quotaExceeded } from './uploads.js';
import { postView } from './views.js';

/**
 * The response for a post that does not exist, is hidden, or belongs to another user. It must not reveal which of these is
 * true.
 */
const NO_SUCH_POST = errorResponse('not_found', 'There is no such post.');

export const posts: PostsHandlers<Handlers> = {
  async listPosts({ user, query, client }, context) {
    const { posts, more } = await readFeed(context, user.account.id, query, client);
    return pageResponse('/posts', query, posts, more);
  },

  async listOwnPosts({ user, query, client }, context) {
    const { posts, more } = await readOwnPosts(context, user.account.id, query, client);
    return pageResponse('/posts/me', query, posts, more);
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
    const deleted = await deletePost(context, user.account.id, query.id);
    return deleted ? { status: 200, body: { message: 'The post is deleted.' } } : NO_SUCH_POST;
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

/** Returns the response with a page of posts, and a `Link` to the next page if there is one. */
function pageResponse(path: string, { limit, offset }: Page, posts: readonly VisiblePost[], more: boolean) {
  const body = posts.map(({ post, likes }) => postView(post, likes));
  const next = `<${path}?limit=${limit}&offset=${offset + limit}>; rel="next"`;
  return { status: 200, ...(more && { headers: { Link: next } }), body } as const;
}

async function setLike({ write }: AppContext, user: number, post: number, liked: boolean) {
  const outcome = await write.setLike({ user, post, liked });
  if (outcome === 'accountDeleted') throw invalidToken();
  if (outcome === 'notVisible') return NO_SUCH_POST;
  return { status: 200, body: { message: liked ? 'You like the post.' : 'You do not like the post.' } } as const;
}
