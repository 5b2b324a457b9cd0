import { readFile } from 'node:fs/promises';
import type { FastifyReply } from 'fastify';
import { serializers } from '../../../generated/serializers.js';

/** Loads the posts from the file named by POSTS, and returns a function that sends them with the contract's serializer. */
export async function createPostsSender() {
  const posts: unknown = JSON.parse(await readFile(process.env.POSTS ?? '', 'utf8'));
  const serialize = serializers.listPosts[200];
  if (!serialize) throw new Error('Expected a response schema for listPosts in the contract');
  return (reply: FastifyReply) => reply.type('application/json; charset=utf-8').serializer(serialize).send(posts);
}
