import { type Kysely, sql } from 'kysely';

/**
 * Drops the table `feed_blocks` and its triggers. Offsets are scanned, and clients follow cursors instead.
 *
 * An empty view takes the place of the table, because processes of the previous version read it until a rolling upgrade is
 * complete. Without blocks, they scan from the beginning. Their attempts to add blocks fail and are logged. A later migration
 * drops the view.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`lock table accounts, posts in access exclusive mode`.execute(db);
  // Also drops the triggers that call these functions.
  await sql`drop function count_feed_posts, count_private_feed_posts, forget_feed_blocks cascade`.execute(db);
  await sql`drop table feed_blocks`.execute(db);
  await sql`
    create view feed_blocks as
    select null::timestamptz(3) as ends_at, 0 as posts, 0 as private_posts where false`.execute(db);
}
