import { type Kysely, sql } from 'kysely';

/**
 * Adds a table with the number of likes of each post. Triggers keep it up to date. Counting the likes in each query would take
 * time proportional to their number.
 *
 * A trigger also takes an advisory lock before likes are written, so that only one transaction at a time writes likes.
 * Without the lock, two transactions could deadlock by updating the counts of the same posts in different orders. It is the
 * last lock in the lock order: see `locks.ts`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('graph_like_counts')
    .addColumn('post_id', 'bigint', (column) => column.primaryKey())
    .addColumn('likes', 'bigint', (column) => column.notNull().check(sql`likes >= 0`))
    .execute();
  await sql`lock table graph_likes in share row exclusive mode`.execute(db);
  await sql`insert into graph_like_counts select post_id, count(*) from graph_likes group by post_id`.execute(db);

  await sql`
    create function wait_to_like() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(${sql.lit(LIKES_LOCK_KEY)});
      return null;
    end $$`.execute(db);
  await sql`
    create function count_new_likes() returns trigger language plpgsql as $$
    begin
      insert into graph_like_counts as counted
      select post_id, count(*) from changed group by post_id
      on conflict (post_id) do update set likes = counted.likes + excluded.likes;
      return null;
    end $$`.execute(db);
  await sql`
    create function count_gone_likes() returns trigger language plpgsql as $$
    begin
      update graph_like_counts counted set likes = counted.likes - gone.likes
      from (select post_id, count(*) as likes from changed group by post_id) gone
      where counted.post_id = gone.post_id;
      delete from graph_like_counts where likes = 0 and post_id in (select post_id from changed);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger wait before insert or delete on graph_likes
    for each statement execute function wait_to_like()`.execute(db);
  await sql`
    create trigger count_new after insert on graph_likes
    referencing new table as changed for each statement execute function count_new_likes()`.execute(db);
  await sql`
    create trigger count_gone after delete on graph_likes
    referencing old table as changed for each statement execute function count_gone_likes()`.execute(db);
}

/** The key of the advisory lock. It is negative, because the keys of accounts and posts are positive: see `locks.ts`. */
const LIKES_LOCK_KEY = -2;
