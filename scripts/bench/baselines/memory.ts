/** B0: a bare Fastify server that sends 20 posts from memory. */
import Fastify from 'fastify';
import { listen } from './listen.js';
import { createPostsSender } from './posts.js';

const send = await createPostsSender();
const server = Fastify();
server.get('/posts', (_, reply) => send(reply));
await listen(server);
