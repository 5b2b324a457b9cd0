import { createServer } from 'node:net';
import { sql } from 'kysely';
import pg from 'pg';
import t from 'tap';
import { isUnavailable } from '../../db/postgres/client.js';
import { openPostgres } from '../../db/postgres/server.js';
import { listen } from '../support/listen.js';
import { silentLog } from '../support/stores.js';

t.test('PostgreSQL counts as unavailable after errors that the statement did not cause, and only then', (t) => {
  const errorOf = (code: string) => Object.assign(new pg.DatabaseError(code, 0, 'error'), { code });
  const codes = ['08006', '28P01', '3D000', '40P01', '53300', '57014', '58030', '25006', '25P03', '55P03'];
  t.same(
    [...codes, '22P02', '23505', '42501'].filter((code) => isUnavailable(errorOf(code))),
    codes,
  );
  t.end();
});

t.test('the cause of a refused connection is named, also for a host with several addresses', async (t) => {
  const lines: [object, string][] = [];
  const log = { ...silentLog, warn: (...line: [object, string]) => void lines.push(line) };
  const options = { poolSize: 1, graphPoolSize: 1, timeoutMs: 2000 };
  const { db, close } = openPostgres({ url: 'postgres://user:secret@localhost:1/database', ...options }, log);
  const message = /connect ECONNREFUSED \S+$/;
  await t.rejects(sql`select 1`.execute(db), { code: 'store_unavailable', message });
  t.match(lines, [[{ store: 'postgres', err: { message } }, 'store unavailable']]);
  await close();
});

t.test(
  'a server that is silent once a connection is open fails the calls of every pool, and is logged once',
  async (t) => {
    const authenticationOkAndReady = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
    const server = createServer((socket) => socket.once('data', () => socket.write(authenticationOkAndReady)));
    const lines: [object, string][] = [];
    const log = { ...silentLog, warn: (...line: [object, string]) => void lines.push(line) };
    const url = `postgres://user:secret@127.0.0.1:${await listen(t, server)}/database`;
    const postgres = openPostgres({ url, poolSize: 1, graphPoolSize: 1, timeoutMs: 200 }, log);
    for (const db of [postgres.db, postgres.graphTransactions, postgres.maintenanceDb])
      await t.rejects(sql`select 1`.execute(db), {
        message: 'The postgres store is not available: Query read timeout',
      });
    await postgres.close();
    t.match(lines, [[{ store: 'postgres', err: { message: /Query read timeout$/ } }, 'store unavailable']]);
    t.equal(lines.length, 1);
  },
);
