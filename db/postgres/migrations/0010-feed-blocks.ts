import { type Kysely, sql } from 'kysely';

/**
 * Adds the table `feed_blocks`, which migration 0011 drops. A background job filled it. Triggers keep its counts correct when
 * posts are inserted or deleted, and when an account becomes private or public or is deleted.
 *
 * Before a trigger on posts reads whether the author's account is private, it locks the account, so that this cannot change
 * until the transaction ends. The triggers also lock the table `feed_blocks` in a mode that excludes the background job, and
 * then the blocks by ascending time. Two transactions that change counts several times can still deadlock, and are repeated:
 * see `retryDeadlocks`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // In the order in which the service locks their rows.
  await sql`lock table accounts, posts in share row exclusive mode`.execute(db);
  await db.schema
    .createTable('feed_blocks')
    .addColumn('ends_at', sql`timestamptz(3)`, (column) => column.primaryKey())
    .addColumn('posts', 'integer', (column) => column.notNull())
    .addColumn('private_posts', 'integer', (column) => column.notNull())
    .execute();

  await sql`
    create function count_feed_posts() returns trigger language plpgsql as $$
    declare
      change constant int = case tg_op when 'INSERT' then 1 else -1 end;
      block record;
    begin
      lock table feed_blocks in row exclusive mode;
      -- Nearly all posts are newer than the last block when they are created.
      if not exists (select from changed where created_at < (select max(ends_at) from feed_blocks)) then
        return null;
      end if;
      -- The transaction of an insert may already hold this lock. That of a deletion may update the account.
      if tg_op = 'INSERT' then
        perform from accounts where id in (select author_id from changed) order by id for share;
      else
        perform from accounts where id in (select author_id from changed) order by id for no key update;
      end if;
      for block in
        select covering.ends_at, count(*) as posts, count(*) filter (where private) as private_posts
        from changed left join accounts on accounts.id = author_id
        cross join lateral (
          select ends_at from feed_blocks where ends_at > changed.created_at order by ends_at limit 1
        ) covering
        group by covering.ends_at order by covering.ends_at
      loop
        update feed_blocks
        set posts = feed_blocks.posts + change * block.posts,
          private_posts = feed_blocks.private_posts + change * block.private_posts
        where ends_at = block.ends_at;
      end loop;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger count_new after insert on posts
    referencing new table as changed for each statement execute function count_feed_posts()`.execute(db);
  await sql`
    create trigger count_gone after delete on posts
    referencing old table as changed for each statement execute function count_feed_posts()`.execute(db);

  await sql`
    create function count_private_feed_posts() returns trigger language plpgsql as $$
    declare
      change constant int = case when old.private then -1 else 1 end;
      block record;
    begin
      lock table feed_blocks in row exclusive mode;
      for block in
        -- The first element of an array has the subscript 1. Posts after the last block have the subscript null.
        select times[1 + width_bucket(created_at, times)] as ends_at, count(*) as posts
        from posts, (select array_agg(feed_blocks.ends_at order by feed_blocks.ends_at) as times from feed_blocks) ends
        where author_id = old.id
        group by 1 order by 1
      loop
        update feed_blocks set private_posts = private_posts + change * block.posts where ends_at = block.ends_at;
      end loop;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger count_changed_privacy after update of private on accounts
    for each row when (old.private is distinct from new.private) execute function count_private_feed_posts()`.execute(
    db,
  );
  await sql`
    create trigger count_gone_privacy after delete on accounts
    for each row when (old.private) execute function count_private_feed_posts()`.execute(db);

  await sql`
    create function forget_feed_blocks() returns trigger language plpgsql as $$
    begin
      delete from feed_blocks;
      return null;
    end $$`.execute(db);
  for (const table of ['accounts', 'posts']) {
    await sql`
      create trigger forget_feed_blocks after truncate on ${sql.table(table)}
      for each statement execute function forget_feed_blocks()`.execute(db);
  }
}
