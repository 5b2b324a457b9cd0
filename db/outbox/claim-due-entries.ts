import { sql } from 'kysely';
import { NOW } from '../postgres/clock.js';
import type { Database } from '../postgres/index.js';

/**
 * Returns the entries that are due and not locked by another transaction. In a transaction, locks their rows until it ends.
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
