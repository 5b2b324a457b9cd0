import { sql } from 'kysely';
import type { Database } from '../postgres/index.js';
import type { Tables } from '../schema.js';

/** How much the service stores. Exact up to `MAX_COUNTED` rows of a table, and an estimate beyond. */
export interface Totals {
  accounts: number;
  posts: number;
  /** Sessions that have not expired, and expired ones that have not been purged yet. */
  sessions: number;
  /** The bytes of all pictures and images of posts. */
  imageBytes: number;
  /** Changes made by `npm run admin`, on servers also those of other processes. */
  operatorActions: number;
}

/** The maximum number of rows that are read of a table, so that reading the totals takes milliseconds at any size. */
const MAX_COUNTED = 10_000;

export async function readTotals(db: Database, maxCounted = MAX_COUNTED): Promise<Totals> {
  const accounts = await countRows(db, 'accounts', maxCounted);
  const posts = await countRows(db, 'posts', maxCounted);
  const sessions = await countRows(db, 'sessions', maxCounted);
  const imageBytes = await readImageBytes(db, accounts, maxCounted);
  const operatorActions = await countRows(db, 'operator_log', maxCounted);
  return { accounts, posts, sessions, imageBytes, operatorActions };
}

/** Counts the rows of a table. Of a larger table, returns the number when it was last vacuumed or analyzed. */
async function countRows(db: Database, table: keyof Tables, maxCounted: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select case when counted < ${maxCounted} then counted else greatest(counted, reltuples) end::float8 as count
    from (select count(*) as counted from (select from ${sql.table(table)} limit ${maxCounted}) as first) as counts,
      pg_class where oid = ${table}::regclass`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Returns the total of the accounts' stored bytes, or an estimate from a random sample of the pages of the table. */
async function readImageBytes(db: Database, accounts: number, maxCounted: number): Promise<number> {
  const percentage = Math.min(100, (100 * maxCounted) / accounts);
  const { rows } = await sql<{ sum: number; mean: number }>`
    select coalesce(sum(stored_bytes), 0)::float8 as sum, coalesce(avg(stored_bytes), 0)::float8 as mean
    from accounts tablesample system (${percentage}) repeatable (0)`.execute(db);
  const [{ sum, mean } = { sum: 0, mean: 0 }] = rows;
  return percentage === 100 ? sum : Math.round(mean * accounts);
}
