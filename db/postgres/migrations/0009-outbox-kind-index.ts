import type { Kysely } from 'kysely';

/**
 * Adds an index of due outbox entries that begins with the kind. During an outage of one store, the relay then does not read its
 * backlog to find the entries of the other store. The previous version still uses the index `outbox_due`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('outbox_kind_due').on('outbox').columns(['kind', 'due_at', 'id']).execute();
}
