import type { Kysely } from 'kysely';

/** Adds the columns `changing` and `moved_to`, which record moves between stores: see `InstallationTable` in `schema.ts`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('installation')
    .addColumn('changing', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('moved_to', 'text')
    .execute();
}
