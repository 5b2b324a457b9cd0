import { type Kysely, sql } from 'kysely';

const NOW = sql`clock_timestamp()`;

/** Creates the first tables. Later migrations change them and add others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('accounts')
    .addColumn('id', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('username', 'text', (column) => column.notNull())
    .addColumn('username_key', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('password_hash', 'text', (column) => column.notNull())
    .addColumn('token_version', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('private', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('picture', 'text')
    .addColumn('created_at', sql`timestamptz(3)`, (column) => column.notNull().defaultTo(NOW))
    .addUniqueConstraint('accounts_username_key', ['username_key'])
    .addUniqueConstraint('accounts_email', ['email'])
    .addUniqueConstraint('accounts_picture', ['picture'])
    .execute();

  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id').onDelete('cascade'))
    .addColumn('device_name', 'text', (column) => column.notNull())
    .addColumn('created_at', sql`timestamptz(3)`, (column) => column.notNull().defaultTo(NOW))
    .addColumn('last_used_at', sql`timestamptz(3)`, (column) => column.notNull().defaultTo(NOW))
    .addColumn('expires_at', sql`timestamptz(3)`, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('sessions_account').on('sessions').column('account_id').execute();
  await db.schema.createIndex('sessions_expiry').on('sessions').column('expires_at').execute();

  await db.schema
    .createTable('posts')
    .addColumn('id', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity())
    .addColumn('author_id', 'bigint', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('image', 'text')
    .addColumn('created_at', sql`timestamptz(3)`, (column) => column.notNull().defaultTo(NOW))
    .addUniqueConstraint('posts_image', ['image'])
    .execute();
  await db.schema.createIndex('posts_newest').on('posts').columns(['created_at desc', 'id desc']).execute();
  await db.schema
    .createIndex('posts_author_newest')
    .on('posts')
    .columns(['author_id', 'created_at desc', 'id desc'])
    .execute();

  await db.schema
    .createTable('outbox')
    .addColumn('id', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('due_at', 'timestamptz', (column) => column.notNull().defaultTo(NOW))
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', sql`timestamptz(3)`, (column) => column.notNull().defaultTo(NOW))
    .execute();
  await db.schema.createIndex('outbox_due').on('outbox').columns(['due_at', 'id']).execute();

  await db.schema
    .createTable('graph_likes')
    .addColumn('post_id', 'bigint', (column) => column.notNull())
    .addColumn('person_id', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('graph_likes_pair', ['post_id', 'person_id'])
    .execute();
  await db.schema.createIndex('graph_likes_person').on('graph_likes').column('person_id').execute();

  await db.schema
    .createTable('graph_friendships')
    .addColumn('lo', 'bigint', (column) => column.notNull())
    .addColumn('hi', 'bigint', (column) => column.notNull())
    .addColumn('requester', 'bigint')
    .addPrimaryKeyConstraint('graph_friendships_pair', ['lo', 'hi'])
    .addCheckConstraint('graph_friendships_order', sql`lo < hi`)
    .addCheckConstraint('graph_friendships_requester', sql`requester in (lo, hi)`)
    .execute();
  await db.schema.createIndex('graph_friendships_hi').on('graph_friendships').column('hi').execute();
}
