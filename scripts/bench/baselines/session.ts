/** B1: sends the same posts as B0, after verifying the token and querying its session in PostgreSQL. */
import { createSecretKey } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import Fastify from 'fastify';
import { jwtVerify } from 'jose';
import pg from 'pg';
import { listen } from './listen.js';
import { createPostsSender } from './posts.js';

/** Connects to the server at DATABASE_URL, or opens an embedded database in POSTGRES_DIRECTORY. */
async function openPool(): Promise<pg.Pool> {
  const { DATABASE_URL, POSTGRES_DIRECTORY } = process.env;
  if (DATABASE_URL !== undefined) return new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
  const config = createPgConfig(await PGlite.create(POSTGRES_DIRECTORY ?? ''));
  return new pg.Pool({ ...config, max: config.poolSize });
}

const SESSION_QUERY = {
  name: 'session',
  text: `
    select account_id, token_version, name, username, email
    from sessions join accounts on accounts.id = account_id
    where sessions.id = $1 and expires_at > clock_timestamp()`,
};

const send = await createPostsSender();
const pool = await openPool();
const key = createSecretKey(process.env.TOKEN_SECRET ?? '', 'utf8');
const server = Fastify();
server.get('/posts', async ({ headers }, reply) => {
  const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
  const verified = await jwtVerify(token, key, { algorithms: ['HS256'] }).catch(() => undefined);
  const { rows } = await pool.query({ ...SESSION_QUERY, values: [verified?.payload.jti ?? ''] });
  if (rows[0]?.token_version !== verified?.payload.tvr || !verified) return reply.code(401).send();
  return send(reply);
});
await listen(server);
