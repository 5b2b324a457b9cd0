import { type Kysely, sql } from 'kysely';

/** The index by which the feed is read names each post's author too, so that looking for who may see it reads no rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index posts_newest_authors on posts (created_at desc, id desc) include (author_id)`.execute(db);
  await sql`drop index posts_newest`.execute(db);
}
