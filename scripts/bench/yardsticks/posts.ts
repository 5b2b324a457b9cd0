import { readFile } from 'node:fs/promises';
import type { FastifyReply } from 'fastify';
import { serializers } from '../../../generated/serializers.js';

/** The posts in the file that POSTS names, as a handler that sends them from memory by the contract's own serializer. */
export async function sendPosts() {
  const posts: unknown = JSON.parse(await readFile(process.env.POSTS ?? '', 'utf8'));
  const serialize = serializers.listPosts[200];
  if (!serialize) throw new Error('the contract has no list of posts');
  return (reply: FastifyReply) => reply.type('application/json; charset=utf-8').serializer(serialize).send(posts);
}
