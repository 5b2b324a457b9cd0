import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, rename, rm } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { OWNER_ONLY } from './data-directory.js';
import type { Tables } from './tables.js';

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;

export interface Postgres {
  db: Database;
  close(): Promise<void>;
}

/** Ids stay within what a JavaScript number holds exactly: the contract bounds them. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text');
}

/**
 * Gives every parameterised statement a name, so that PostgreSQL parses and plans it once per connection. Lists travel as
 * one array parameter, which keeps the number of different statements small.
 */
class NamingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg.Client has a dozen overloads, of which Kysely uses one.
  override query(statement: any, ...rest: any[]): any {
    const [values] = rest;
    if (typeof statement !== 'string' || !Array.isArray(values) || values.length === 0) {
      return super.query(statement, ...rest);
    }
    return super.query({ name: statementName(statement), text: statement, values });
  }
}

const names = new Map<string, string>();

function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url');
    names.set(text, name);
  }
  return name;
}

/** PostgreSQL in this process, its files in `directory`. It has one connection: see the rule in `locks.ts`. */
export async function openEmbeddedPostgres(directory: string): Promise<Postgres> {
  if (!existsSync(directory)) await initialize(directory);
  await chmod(directory, OWNER_ONLY);
  const pglite = await PGlite.create(directory);
  const config = createPgConfig(pglite);
  const pool = new pg.Pool({ ...config, max: config.poolSize, Client: NamingClient, types: { getTypeParser } });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    async close() {
      await db.destroy();
      await pglite.close();
    },
  };
}

/** A cluster is made under another name first: one that is killed half-way is thrown away, not opened. */
async function initialize(directory: string): Promise<void> {
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const pglite = await PGlite.create(unfinished);
  await pglite.close();
  await rename(unfinished, directory);
}
