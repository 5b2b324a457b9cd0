import { sql } from 'kysely';
import { NOW } from '../postgres/clock.js';
import type { Database } from '../postgres/index.js';

/**
 * Those of these entries that are due, unless somebody else is delivering them; locked for as long as the transaction lasts,
 * if there is one.
 */
export const claimDueEntries = (db: Database, ids: readonly number[]) =>
  db
    .selectFrom('outbox')
    .select(['id', 'kind', 'key', 'delivered'])
    .where(sql<boolean>`id = any(${ids}::int8[])`)
    .where('due_at', '<=', NOW)
    .forUpdate()
    .skipLocked()
    .execute();
