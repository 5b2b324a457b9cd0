import { existsSync } from 'node:fs';
import { chmod, rename, rm } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { Parser } from 'pg-protocol/dist/parser';
import { OWNER_ONLY } from '../data-directory.js';
import type { Observer } from '../observer.js';
import type { Tables } from '../tables.js';
import { NamingClient, observedClient, types } from './client.js';
import type { Postgres } from './index.js';

/** PostgreSQL in this process, its files in `directory`. It has one connection: see the rule in `locks.ts`. */
export async function openEmbeddedPostgres(directory: string, observer: Observer): Promise<Postgres> {
  if (!existsSync(directory)) await initialize(directory);
  await chmod(directory, OWNER_ONLY);
  const pglite = await PGlite.create(directory);
  // Each statement is planned once: planning one anew takes it longer than to run it.
  await pglite.exec('set plan_cache_mode = force_generic_plan');
  const config = createPgConfig(readByPg(pglite));
  const pool = new pg.Pool({ ...config, max: config.poolSize, Client: observedClient(NamingClient, observer), types });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    graphDb: db,
    patientDb: db,
    deadline: 0,
    pools: () => ({ main: { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount } }),
    async close() {
      await db.destroy();
      await pglite.close();
    },
  };
}

/** PGlite's answers as pg's parser reads them: its own drops a U+FEFF that a text begins with. */
function readByPg(pglite: PGlite): PGlite {
  const parser = new Parser();
  const connection = {
    waitReady: pglite.waitReady,
    async execProtocolStream(question: Uint8Array) {
      const answers: unknown[] = [];
      const onRawData = (bytes: Uint8Array) => parser.parse(Buffer.from(bytes), (answer) => answers.push(answer));
      await pglite.execProtocolRawStream(question, { onRawData });
      return answers;
    },
  };
  // All that a connection makes use of.
  return connection as unknown as PGlite;
}

/** A cluster is made under another name first: one that is killed half-way is thrown away, not opened. */
async function initialize(directory: string): Promise<void> {
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const pglite = await PGlite.create(unfinished);
  await pglite.close();
  await rename(unfinished, directory);
}
