/** Y0: a bare Fastify that sends 20 posts from memory. */
import Fastify from 'fastify';
import { listen } from './listen.js';
import { sendPosts } from './posts.js';

const send = await sendPosts();
const server = Fastify();
server.get('/posts', (_, reply) => send(reply));
await listen(server);
