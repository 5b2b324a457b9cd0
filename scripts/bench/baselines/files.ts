/** B3: a bare Fastify server that streams files to and from the disk. */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Fastify from 'fastify';
import { listen } from './listen.js';

const directory = process.env.FILES ?? '';
let lastId = 0;

const server = Fastify();
server.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
server.post('/files', async ({ body }, reply) => {
  lastId += 1;
  await pipeline(body as NodeJS.ReadableStream, createWriteStream(join(directory, String(lastId))));
  return reply.code(201).send({ id: lastId });
});
server.get<{ Params: { id: number } }>('/files/:id', async ({ params }, reply) => {
  const path = join(directory, String(Number(params.id)));
  const { size } = await stat(path);
  return reply.type('image/png').header('Content-Length', size).send(createReadStream(path));
});
await listen(server);
