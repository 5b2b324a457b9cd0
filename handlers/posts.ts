import { readFeed, readOwnPosts, type SeenPost, seePost } from '../db/feed.js';
import { authorOf, createPost, deletePost, findPostByImage, type Page, updatePost } from '../db/posts.js';
import { canSee } from '../db/visibility.js';
import type { App, Handlers } from './app.js';
import { unauthorized } from './http/errors.js';
import { imageAnswer, NO_SUCH_IMAGE, withUpload } from './images.js';
import { postView } from './views.js';

type PostHandlers = Pick<
  Handlers,
  | 'listPosts'
  | 'listOwnPosts'
  | 'getPost'
  | 'getPostImage'
  | 'createPost'
  | 'editPost'
  | 'deletePost'
  | 'likePost'
  | 'unlikePost'
>;

/** Missing, hidden and another's: nobody can tell them apart. */
const NO_SUCH_POST = { status: 404, body: { message: 'There is no such post.' } } as const;

export const posts: PostHandlers = {
  async listPosts({ caller, query }, app) {
    const { posts, more } = await readFeed(app, caller.account.id, query);
    return pageOf('/posts', query, posts, more);
  },

  async listOwnPosts({ caller, query }, app) {
    const { posts, more } = await readOwnPosts(app, caller.account.id, query);
    return pageOf('/posts/me', query, posts, more);
  },

  async getPost({ caller, path }, app) {
    const post = await findVisible(app, caller.account.id, path.id);
    return post ? { status: 200, body: { ...post, comments: [] } } : NO_SUCH_POST;
  },

  async getPostImage({ caller, path, headers }, { db, images, read }) {
    const post = await findPostByImage(db, path.filename);
    if (!post || !(await canSee(caller.account.id, authorOf(post), read.friends))) return NO_SUCH_IMAGE;
    return imageAnswer(images, path.filename, headers['if-none-match']);
  },

  async createPost({ caller, body: { title, text, image: upload } }, app) {
    const created = await withUpload(app, upload, (image) =>
      createPost(app, caller.account.id, { title, text, image }),
    );
    if (!created) throw unauthorized();
    await app.outbox.deliver(created.entries);
    return { status: 201, body: postView(created.post, { count: 0, liked: false }) };
  },

  async editPost({ caller, query, body: { title, text, image: upload, remove_image } }, app) {
    // Looked at first, so that the bytes of a refused edit are never stored.
    const post = await app.read.post(query.id);
    if (post?.author_id !== caller.account.id) return NO_SUCH_POST;
    const updated = await withUpload(app, upload, (image) =>
      updatePost(app.db, caller.account.id, query.id, { title, text, image: remove_image ? null : image }),
    );
    if (!updated) return NO_SUCH_POST;
    await app.outbox.deliver(updated.entries);
    const after = await findVisible(app, caller.account.id, query.id);
    return after ? { status: 200, body: after } : NO_SUCH_POST;
  },

  async deletePost({ caller, query }, { db, outbox }) {
    const entries = await deletePost(db, caller.account.id, query.id);
    if (!entries) return NO_SUCH_POST;
    await outbox.deliver(entries);
    return { status: 200, body: { message: 'The post is deleted.' } };
  },

  async likePost({ caller, query }, app) {
    return setLike(app, caller.account.id, query.id, true);
  },

  async unlikePost({ caller, query }, app) {
    return setLike(app, caller.account.id, query.id, false);
  },
};

async function findVisible({ read }: App, viewer: number, id: number) {
  const seen = await seePost(read, viewer, await read.post(id));
  return seen && postView(seen.post, seen.likes);
}

function pageOf(path: string, { limit, offset }: Page, posts: readonly SeenPost[], more: boolean) {
  const body = posts.map(({ post, likes }) => postView(post, likes));
  const next = `<${path}?limit=${limit}&offset=${offset + limit}>; rel="next"`;
  return { status: 200, ...(more && { headers: { Link: next } }), body } as const;
}

async function setLike({ write }: App, person: number, post: number, liked: boolean) {
  const outcome = await write.setLike({ person, post, liked });
  if (outcome === 'gone') throw unauthorized();
  if (outcome === 'hidden') return NO_SUCH_POST;
  return { status: 200, body: { message: liked ? 'You like the post.' : 'You do not like the post.' } } as const;
}
