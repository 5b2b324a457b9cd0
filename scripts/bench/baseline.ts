/** The baseline: a bare Fastify server that sends the same responses from memory, and reads uploads without storing them. */
import { readFile } from 'node:fs/promises';
import Fastify from 'fastify';
import { serializers } from '../../generated/serializers.js';
import type { BenchUser } from './dataset.js';

const server = Fastify();

const users: BenchUser[] = JSON.parse(await readFile(process.env.USERS ?? '', 'utf8'));
const responses = new Map(
  users.flatMap(({ token, responses }) =>
    responses.map(({ path, operation, body }) => [`Bearer ${token} ${path}`, { operation, body }]),
  ),
);
server.get('/*', ({ headers, url }, reply) => {
  const response = responses.get(`${headers.authorization} ${url}`);
  const serialize = response && serializers[response.operation][200];
  if (!serialize) return reply.code(404).send();
  return reply.type('application/json; charset=utf-8').serializer(serialize).send(response.body);
});

server.addContentTypeParser(
  'multipart/form-data',
  { parseAs: 'buffer' },
  async (_request: unknown, body: Buffer) => body,
);
server.post('/posts/create', async (_request, reply) => reply.code(201).send({}));

process.once('SIGTERM', () => process.exit());
console.log(`  API         ${await server.listen({ host: '127.0.0.1', port: 0 })}`);
