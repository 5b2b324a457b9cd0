import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Page } from '../db/feed.js';
import { createPostOnce, findEarlierCreation, type PostCreation } from '../db/idempotency-keys.js';
import { createPost, deletePost, findPostImageOwner, isPostOf, updatePost } from '../db/posts.js';
import { findVisiblePost, type PostsPage } from '../db/visible-posts.js';
import type { PostsHandlers } from '../generated/handlers.js';
import type { AppContext } from './context.js';
import { decodeCursor, encodeCursor } from './cursors.js';
import { errorResponse, invalidToken } from './errors.js';
import { serveImage } from './images.js';
import type { Handlers, Request } from './operation.js';
import { withUpload } from './uploads.js';
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

  async createPost({ user, headerParameters, body }, context) {
    const creation = await createFromForm(context, user.account.id, body, headerParameters['Idempotency-Key']);
    switch (creation.outcome) {
      case 'accountDeleted':
        throw invalidToken();
      case 'keyReused':
        return errorResponse('idempotency_key_reused', 'The Idempotency-Key was already used with another form.');
      case 'inProgress':
        return errorResponse(
          'idempotency_key_in_progress',
          'A request with this Idempotency-Key is still in progress.',
        );
      case 'created':
        await context.outbox.deliver(creation.entries);
        return {
          status: 201,
          headers: { Location: `/posts/${creation.post.id}` },
          body: postView(creation.post, { count: 0, liked: false }),
        };
    }
  },

  async editPost({ user, query, body: { title, text, image: upload, remove_image } }, context) {
    // Checked first, so that no image is stored for a post that the user cannot edit.
    if (!(await isPostOf(context.db, user.account.id, query.id))) return NO_SUCH_POST;
    const uploadOptions = { account: user.account.id, upload, replaced: { post: query.id } };
    const updated = await withUpload(context, uploadOptions, (image) =>
      updatePost(context.db, user.account.id, query.id, { title, text, image: remove_image ? null : image }),
    );
    if (!updated) return NO_SUCH_POST;
    await context.outbox.deliver(updated.entries);
    const post = await findPostView(context, user.account.id, query.id);
    return post ? { status: 200, body: post } : NO_SUCH_POST;
  },

  async deletePost({ user, query }, { db, outbox }) {
    const entries = await deletePost(db, user.account.id, query.id);
    if (!entries) return NO_SUCH_POST;
    await outbox.deliver(entries);
    return { status: 200, body: { message: 'The post is deleted.' } };
  },

  async likePost({ user, query }, context) {
    return setLike(context, user.account.id, query.id, true);
  },

  async unlikePost({ user, query }, context) {
    return setLike(context, user.account.id, query.id, false);
  },
};

type PostForm = Request<'createPost'>['body'];

/** Creates a post from a form. With an idempotency key, an earlier request with the same key may already have created it. */
async function createFromForm(
  context: AppContext,
  account: number,
  form: PostForm,
  key: string | undefined,
): Promise<PostCreation> {
  const { title, text, image: upload } = form;
  const request = key === undefined ? undefined : { account, key, formHash: await hashForm(form) };
  const findEarlier = request && (() => findEarlierCreation(context.db, request, form));
  return withUpload(context, { account, upload, findEarlier }, async (image): Promise<PostCreation> => {
    const post = { title, text, image };
    if (request) return createPostOnce(context, request, post);
    const created = await createPost(context, account, post);
    return created ? { outcome: 'created', ...created } : { outcome: 'accountDeleted' };
  });
}

/** Returns a SHA-256 hash, in base64url, of the title, the text, and the image with its media type. */
async function hashForm({ title, text, image }: PostForm): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([title, text, image?.mediaType]));
  if (image) for await (const chunk of createReadStream(image.path)) hash.update(chunk);
  return hash.digest('base64url');
}

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
