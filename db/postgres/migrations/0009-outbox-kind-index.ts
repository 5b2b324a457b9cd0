import type { Kysely } from 'kysely';

/**
 * Adds the kind to the index of due outbox entries. During an outage of one store, the relay then does not read its backlog
 * to find the entries of the other store. The previous version can use the new index too, with a sort.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // First, because it takes the strongest lock. Taking it later could deadlock with writes.
  await db.schema.dropIndex('outbox_due').ifExists().execute();
  await db.schema.createIndex('outbox_kind_due').on('outbox').columns(['kind', 'due_at', 'id']).execute();
}
