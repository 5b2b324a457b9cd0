import { type Kysely, sql } from 'kysely';

/**
 * Adds the log of the operator's actions. Its rows refer to accounts and posts without foreign keys, because they remain when
 * these are deleted. The column `operator_actions` of `installation`, which only earlier versions used, stays for them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('operator_log')
    .addColumn('id', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity())
    .addColumn('created_at', sql`timestamptz(3)`, (column) => column.notNull().defaultTo(sql`clock_timestamp()`))
    .addColumn('operator', 'text', (column) => column.notNull())
    .addColumn('command', 'text', (column) => column.notNull())
    .addColumn('account_id', 'bigint')
    .addColumn('post_id', 'bigint')
    .addColumn('reason', 'text')
    .execute();
  await db.schema.createIndex('operator_log_account').on('operator_log').columns(['account_id', 'id']).execute();
}
