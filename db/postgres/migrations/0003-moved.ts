import type { Kysely } from 'kysely';

/** Adds the column `moved_to`, see `InstallationTable` in `schema.ts`, and `changing`, which only earlier versions used. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('installation')
    .addColumn('changing', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('moved_to', 'text')
    .execute();
}
