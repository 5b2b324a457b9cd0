import { type Kysely, sql } from 'kysely';

/** Adds the table `installation`, and the column `delivered` to the outbox. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('installation')
    .addColumn('singleton', 'boolean', (column) => column.primaryKey().defaultTo(true).check(sql`singleton`))
    .addColumn('id', 'uuid', (column) => column.notNull().defaultTo(sql`gen_random_uuid()`))
    .addColumn('graph', 'text')
    .addColumn('images', 'text')
    .addColumn('moving', 'boolean', (column) => column.notNull().defaultTo(false))
    .execute();

  await db.schema
    .alterTable('outbox')
    .addColumn('delivered', 'boolean', (column) => column.notNull().defaultTo(false))
    .execute();
}
