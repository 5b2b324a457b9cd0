/**
 * The baselines: minimal Fastify servers that do only what an operation needs. The first argument selects one:
 *
 * - `posts` sends each user's first page from memory, with the contract's serializer
 * - `account` verifies the token, caching verified ones as the service does, and queries its session and account
 * - `files` writes a file to the disk and syncs it, and sends a file
 * - `argon2` verifies a password, with the parameters and the concurrency of the service
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { verify } from '@node-rs/argon2';
import Fastify, { type FastifyReply } from 'fastify';
import pLimit from 'p-limit';
import pg from 'pg';
import { serializers } from '../../generated/serializers.js';
import { parseTokenKeys } from '../../handlers/config/variables.js';
import { HASH_CONCURRENCY, hashPassword } from '../../handlers/security/password-hashing.js';
import { createTokens } from '../../handlers/security/tokens.js';

const { PAGES = '', TOKEN_KEYS, DATABASE_URL, DATA_DIR = '', FILES = '', PASSWORD = '' } = process.env;
const server = Fastify();

const send = (reply: FastifyReply, operation: 'listPosts' | 'getCurrentAccount', body: unknown) => {
  const serialize = serializers[operation][200];
  if (!body || !serialize) return reply.code(401).send();
  return reply.type('application/json; charset=utf-8').serializer(serialize).send(body);
};

async function addPosts(): Promise<void> {
  const pages = new Map(Object.entries(JSON.parse(await readFile(PAGES, 'utf8'))));
  server.get('/posts', ({ headers }, reply) => send(reply, 'listPosts', pages.get(headers.authorization ?? '')));
}

const SESSION_QUERY = {
  name: 'session',
  text: `
    select accounts.id, token_version, name, username, email
    from sessions join accounts on accounts.id = account_id
    where sessions.id = $1 and expires_at > clock_timestamp()`,
};

async function openPool(): Promise<pg.Pool> {
  if (DATABASE_URL !== undefined) return new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
  const config = createPgConfig(await PGlite.create(join(DATA_DIR, 'postgres')));
  return new pg.Pool({ ...config, max: config.poolSize });
}

async function addAccount(): Promise<void> {
  const keys = TOKEN_KEYS ?? (await readFile(join(DATA_DIR, 'token-keys'), 'utf8')).trim();
  const tokens = createTokens(parseTokenKeys(keys));
  const pool = await openPool();
  server.get('/auth/me', async ({ headers }, reply) => {
    const claims = await tokens.verify(headers.authorization?.replace(/^Bearer /, '') ?? '');
    const { rows } = await pool.query({ ...SESSION_QUERY, values: [claims?.sessionId] });
    const account = rows.find((row) => row.token_version === claims?.tokenVersion);
    return send(reply, 'getCurrentAccount', account);
  });
}

function addFiles(): void {
  let lastId = 0;
  server.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  server.post('/files', async ({ body }, reply) => {
    lastId += 1;
    await pipeline(body as NodeJS.ReadableStream, createWriteStream(join(FILES, String(lastId)), { flush: true }));
    return reply.code(201).send({ id: lastId });
  });
  server.get<{ Params: { id: number } }>('/files/:id', async ({ params }, reply) => {
    const path = join(FILES, String(Number(params.id)));
    const { size } = await stat(path);
    return reply.type('image/png').header('Content-Length', size).send(createReadStream(path));
  });
}

async function addLogin(): Promise<void> {
  const hash = await hashPassword(PASSWORD);
  const limit = pLimit(HASH_CONCURRENCY);
  server.post<{ Body: { password: string } }>('/auth/login', async ({ body }, reply) => {
    const isCorrect = await limit(() => verify(hash, body.password));
    return reply.code(isCorrect ? 200 : 401).send({});
  });
}

const add = { posts: addPosts, account: addAccount, files: addFiles, argon2: addLogin }[process.argv[2] ?? ''];
if (!add) throw new Error('Expected the name of a baseline');
await add();
process.once('SIGTERM', () => process.exit());
console.log(`  API         ${await server.listen({ host: '127.0.0.1', port: 0 })}`);
