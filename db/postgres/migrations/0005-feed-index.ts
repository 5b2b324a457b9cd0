import { type Kysely, sql } from 'kysely';

/** Adds the author to the index of the feed. Visibility checks then read only the index, and no rows of posts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index posts_newest_authors on posts (created_at desc, id desc) include (author_id)`.execute(db);
  await sql`drop index posts_newest`.execute(db);
}
