import { type Kysely, sql } from 'kysely';

/**
 * Adds idempotency keys and the columns of the storage quota. Existing images count as 0 bytes, because only the image store
 * knows their sizes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id').onDelete('cascade'))
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('form_hash', 'text', (column) => column.notNull())
    .addColumn('post_id', 'bigint', (column) => column.notNull())
    .addColumn('image', 'text')
    .addColumn('author_username', 'text')
    .addColumn('created_at', sql`timestamptz(3)`, (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_account', ['account_id', 'key'])
    .execute();
  await db.schema.createIndex('idempotency_keys_age').on('idempotency_keys').column('created_at').execute();

  await db.schema
    .alterTable('posts')
    .addColumn('image_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('accounts')
    .addColumn('picture_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('stored_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
}
