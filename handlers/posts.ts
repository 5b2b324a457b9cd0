import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { findVisiblePost, readFeed, readOwnPosts, type SeenPost } from '../db/feed.js';
import { createPostOnce, findEarlierCreation, type PostCreation } from '../db/idempotency-keys.js';
import { createPost, deletePost, findPostImageOwner, isPostOf, type Page, updatePost } from '../db/posts.js';
import { canSee } from '../db/visibility.js';
import type { Request } from '../generated/handlers.js';
import type { App, Caller, Handlers } from './context.js';
import { unauthorized } from './http/errors.js';
import { imageAnswer, NO_SUCH_IMAGE, withUpload } from './http/images.js';
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
  async listPosts({ caller, query, client }, app) {
    const { posts, more } = await readFeed(app, caller.account.id, query, client);
    return pageOf('/posts', query, posts, more);
  },

  async listOwnPosts({ caller, query, client }, app) {
    const { posts, more } = await readOwnPosts(app, caller.account.id, query, client);
    return pageOf('/posts/me', query, posts, more);
  },

  async getPost({ caller, path }, app) {
    const post = await findVisible(app, caller.account.id, path.id);
    return post ? { status: 200, body: { ...post, comments: [] } } : NO_SUCH_POST;
  },

  async getPostImage({ caller, path, headers }, app) {
    const owner = await findPostImageOwner(app.db, path.filename);
    if (!(await canSee(caller.account.id, owner, app.read.friends))) return NO_SUCH_IMAGE;
    return imageAnswer(app, path.filename, headers);
  },

  async createPost({ caller, headerParameters, body }, app) {
    const account = caller.account.id;
    const key = headerParameters['Idempotency-Key'];
    const creation = await (key === undefined ? publish(app, account, body) : publishOnce(app, account, body, key));
    switch (creation.outcome) {
      case 'accountDeleted':
        throw unauthorized();
      case 'otherForm':
        return { status: 422, body: { message: 'The Idempotency-Key was already used with another form.' } };
      case 'inProgress':
        return { status: 409, body: { message: 'A request with this Idempotency-Key is still in progress.' } };
      case 'created':
        await app.outbox.deliver(creation.entries);
        return { status: 201, body: postView(creation.post, { count: 0, liked: false }) };
    }
  },

  async editPost({ caller, query, body: { title, text, image: upload, remove_image } }, app) {
    // Looked at first, so that the bytes of a refused edit are never stored.
    if (!(await isPostOf(app.db, caller.account.id, query.id))) return NO_SUCH_POST;
    const uploadContext = { account: caller.account.id, upload, replaced: { post: query.id } };
    const updated = await withUpload(app, uploadContext, (image) =>
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

type PostForm = Request<'createPost', Caller>['body'];

async function publish(app: App, account: number, { title, text, image: upload }: PostForm): Promise<PostCreation> {
  const created = await withUpload(app, { account, upload }, (image) =>
    createPost(app, account, { title, text, image }),
  );
  return created ? { outcome: 'created', ...created } : { outcome: 'accountDeleted' };
}

async function publishOnce(app: App, account: number, form: PostForm, key: string): Promise<PostCreation> {
  const { title, text, image: upload } = form;
  const request = { account, key, formHash: await hashForm(form) };
  const findEarlier = () => findEarlierCreation(app.db, request, form);
  return withUpload(app, { account, upload, findEarlier }, (image) =>
    createPostOnce(app, request, { title, text, image }),
  );
}

/** Returns a text that is equal for equal forms: a hash of the fields, and of the image's bytes as they were spooled. */
async function hashForm({ title, text, image }: PostForm): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([title, text, image?.mediaType]));
  if (image) for await (const chunk of createReadStream(image.path)) hash.update(chunk);
  return hash.digest('base64url');
}

async function findVisible({ read }: App, viewer: number, id: number) {
  const seen = await findVisiblePost(read, viewer, id);
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
