import type { Kysely } from 'kysely';

/** Adds the columns of `installation` that record moves between stores. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('installation')
    .addColumn('changing', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('moved_to', 'text')
    .execute();
}
