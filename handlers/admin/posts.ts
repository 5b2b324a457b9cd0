import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { findPostIdsOf, listPostsOf, type PostDetails, withLikes } from '../../db/admin/posts.js';
import { deletePosts } from '../../db/post-writes.js';
import { logSecurityEvent } from '../security/events.js';
import { type AdminContext, AdminInputError, actionOf, bodyWith, schemas, streamFile } from './action.js';
import { findAccount, findPost } from './references.js';

/** The bodies and responses of these routes, by their paths below `/admin`. */
export interface PostRoutes {
  'posts/list': { Body: { author: string; after?: number; limit: number }; Reply: PostDetails[] };
  'posts/show': { Body: { posts: string[] }; Reply: PostDetails[] };
  /** The bytes of the image of a post. */
  'posts/image': { Body: { post: string }; Reply: Readable };
  'posts/delete': { Body: { posts: string[] }; Reply: { deleted: number } };
  /** Deletes the posts that exist when the request arrives. Stops if the client disconnects, and can be repeated. */
  'posts/delete-all': { Body: { author: string }; Reply: { deleted: number } };
}

/** Limits the number of ids in one call of the graph. */
const MAX_POSTS = 1000;

/** The number of posts that one transaction deletes. Limits its locks, and how long other requests wait for it. */
const BATCH_SIZE = 200;

const { reference } = schemas;
const page = { author: reference, after: schemas.id, limit: { ...schemas.limit, maximum: MAX_POSTS } };
const posts = { type: 'array', items: reference, minItems: 1, maxItems: MAX_POSTS };

export async function postRoutes(app: FastifyInstance, context: AdminContext): Promise<void> {
  const { db, graph, images, log } = context;

  async function findPosts(references: readonly string[]) {
    const found = [];
    for (const reference of references) found.push(await findPost(db, reference));
    return found;
  }

  app.post<PostRoutes['posts/list']>(
    '/posts/list',
    { schema: bodyWith(page, ['author', 'limit']) },
    async ({ body }) => {
      const author = await findAccount(db, body.author);
      return withLikes(graph, await listPostsOf(db, author.id, body));
    },
  );

  app.post<PostRoutes['posts/show']>('/posts/show', { schema: bodyWith({ posts }) }, async ({ body }) =>
    withLikes(graph, await findPosts(body.posts)),
  );

  app.post<PostRoutes['posts/image']>('/posts/image', { schema: bodyWith({ post: reference }) }, async (request) => {
    const { id, image: name } = await findPost(db, request.body.post);
    const image = name === null ? undefined : await images.get(name);
    if (!image) throw new AdminInputError(`Post ${id} has no image`);
    return streamFile(image.stream, request);
  });

  app.post<PostRoutes['posts/delete']>('/posts/delete', { schema: bodyWith({ posts }) }, async (request) => {
    const action = actionOf(request);
    let deleted = 0;
    for (const { id: postId, author_id: accountId } of await findPosts(request.body.posts)) {
      if ((await deletePosts(context, accountId, [postId], action)) === 0) continue;
      deleted += 1;
      logSecurityEvent(log, 'post_deleted', { accountId, postId, command: action.command });
    }
    return { deleted };
  });

  app.post<PostRoutes['posts/delete-all']>(
    '/posts/delete-all',
    { schema: bodyWith({ author: reference }) },
    async (request) => {
      const { id: accountId } = await findAccount(db, request.body.author);
      const action = { ...actionOf(request), command: 'posts delete --author' };
      const ids = await findPostIdsOf(db, accountId);
      let deleted = 0;
      for (let start = 0; start < ids.length && !request.socket.destroyed; start += BATCH_SIZE) {
        // Logged once for all posts.
        const logged = deleted === 0 ? action : undefined;
        deleted += await deletePosts(context, accountId, ids.slice(start, start + BATCH_SIZE), logged);
        if (logged && deleted > 0) logSecurityEvent(log, 'post_deleted', { accountId, command: action.command });
      }
      return { deleted };
    },
  );
}
