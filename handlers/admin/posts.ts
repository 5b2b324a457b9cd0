import type { FastifyInstance } from 'fastify';
import { findPostDetails, type PostDetails } from '../../db/admin/accounts.js';
import { deletePost } from '../../db/post-writes.js';
import { type AdminContext, AdminInputError, bodyWith, id, recordChange } from './action.js';

/** The bodies and responses of these routes, by their paths below `/admin`. */
export interface PostRoutes {
  'posts/show': { Body: { id: number }; Reply: PostDetails };
  'posts/delete': { Body: { id: number }; Reply: PostDetails };
}

export async function postRoutes(app: FastifyInstance, context: AdminContext): Promise<void> {
  async function findPost(id: number): Promise<PostDetails> {
    const post = await findPostDetails(context.db, id);
    if (!post) throw noSuchPost(id);
    return post;
  }

  app.post<PostRoutes['posts/show']>('/posts/show', { schema: bodyWith({ id }) }, ({ body }) => findPost(body.id));

  app.post<PostRoutes['posts/delete']>('/posts/delete', { schema: bodyWith({ id }) }, async (request) => {
    const post = await findPost(request.body.id);
    if (!(await deletePost(context, post.author_id, post.id))) throw noSuchPost(post.id);
    await recordChange(context, request, 'post_deleted', { accountId: post.author_id, postId: post.id });
    return post;
  });
}

const noSuchPost = (id: number) => new AdminInputError(`There is no post ${id}`);
