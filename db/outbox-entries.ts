import { sql } from 'kysely';
import type { Database } from './postgres/index.js';

/** By PostgreSQL's clock, which is the only one that everybody shares. */
export const NOW = sql<string>`clock_timestamp()`;

export const after = (seconds: number) => sql<string>`clock_timestamp() + ${seconds}::float8 * interval '1 second'`;

/** Those of these entries that are due, unless somebody else is delivering them; locked for as long as the transaction lasts. */
export const takeDue = (db: Database, ids: readonly number[]) =>
  db
    .selectFrom('outbox')
    .select(['id', 'kind', 'key', 'delivered'])
    .where(sql<boolean>`id = any(${ids}::int8[])`)
    .where('due_at', '<=', NOW)
    .forUpdate()
    .skipLocked()
    .execute();
