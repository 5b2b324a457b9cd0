import { type Kysely, sql } from 'kysely';

/** Makes the index of the feed a covering index with the author, so that visibility checks read no rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index posts_newest_authors on posts (created_at desc, id desc) include (author_id)`.execute(db);
  await sql`drop index posts_newest`.execute(db);
}
