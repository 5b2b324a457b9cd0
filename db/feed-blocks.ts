import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { withPrivacy } from './posts.js';
import { StoreUnavailableError } from './support/errors.js';
import type { Log } from './support/log.js';
import { startPeriodic } from './support/periodic.js';
import { privateAccounts } from './visibility.js';

/*
 * Counts of the posts in the feed, so that a page at a large offset does not read all posts before it.
 *
 * All posts except the newest ones are divided into blocks of about 500 posts, by creation time. The table `feed_blocks`
 * contains the number of posts in each block, and how many of them are by private accounts. The difference is what all users
 * may see; the private posts of the viewer and of the viewer's friends are added in the query. The counts lead to the block
 * that contains an offset, and the feed is scanned from there.
 *
 * Triggers keep the counts correct, in the transaction that deletes a post or changes whether an account is private: see
 * migration 0010. New posts are newer than all blocks, so they change no count.
 *
 * A background job adds blocks for posts that are no longer among the newest. Meanwhile, it locks the table `feed_blocks`. It
 * waits for changes whose triggers have run, and counts their result. Triggers that run later wait for the new blocks.
 */

/** A block has about this many posts when it is added. */
export const BLOCK_POSTS = 500;

/** The number of newest posts that belong to no block when blocks are added. */
const MIN_NEWEST_POSTS = BLOCK_POSTS;

/** The maximum number of newest posts to count. If more belong to no block, no position is found. */
const MAX_NEWEST_POSTS = 10_000;

/** If the viewer and the viewer's friends have more private posts than this, counting them would take too long. */
const MAX_PRIVATE_POSTS = 20_000;

/** The maximum number of blocks to add in one transaction. */
const MAX_NEW_BLOCKS = 10;

/** The maximum wait for the lock. Meanwhile, new posts and deletions wait too. */
const MAX_LOCK_WAIT_MS = 20;

const INTERVAL_MS = 5000;

/** The place of an offset in the feed. */
interface FeedPosition {
  /** The posts from the offset on were created before this time, which is in PostgreSQL's text format. */
  before: string;
  /** The number of visible posts between this time and the offset. */
  skip: number;
}

/** The parts of a query for posts that select the visible ones. */
export interface VisibilityClauses {
  join: RawBuilder<unknown>;
  isVisible: RawBuilder<unknown>;
}

/**
 * Returns the position of an offset, or undefined if it is not known. The feed must then be scanned from its beginning.
 *
 * @param authors the viewer and the viewer's friends
 * @param clauses select the posts of public accounts and of `authors`
 */
export async function findFeedPosition(
  db: Database,
  authors: readonly number[],
  clauses: VisibilityClauses,
  offset: number,
): Promise<FeedPosition | undefined> {
  // Enough if at least half of the posts are visible.
  let maxBlocks = Math.ceil((2 * offset) / BLOCK_POSTS);
  for (;;) {
    const { newestPosts, skippedBlocks, position } = await lookUpPosition(db, authors, clauses, offset, maxBlocks);
    if (newestPosts === MAX_NEWEST_POSTS) return undefined;
    if (skippedBlocks < maxBlocks) return position;
    maxBlocks *= 10;
  }
}

/** Condition for posts that belong to no block. */
const hasNoBlock = sql<SqlBool>`posts.created_at >= coalesce((select max(ends_at) from feed_blocks), '-infinity')`;

interface PositionRow {
  /** The number of posts in no block, or `MAX_NEWEST_POSTS` if there are more. */
  newestPosts: number;
  /** The number of blocks up to the position, if the private posts of `authors` do not count. At most `maxBlocks`. */
  skippedBlocks: number;
  position: FeedPosition | undefined;
}

/**
 * Computes a position. First, only public posts are counted, which leads to the last block that the position can be in. Then
 * the private posts of `authors` are counted, in the blocks up to this one.
 *
 * @param maxBlocks the maximum number of blocks to read
 */
async function lookUpPosition(
  db: Database,
  authors: readonly number[],
  { join, isVisible }: VisibilityClauses,
  offset: number,
  maxBlocks: number,
): Promise<PositionRow> {
  const { rows } = await sql<Omit<PositionRow, 'position'> & { position: FeedPosition | null }>`
    with newest as materialized (
      select count(*)::int as posts, count(*) filter (where ${isVisible}) as visible_posts
      from (
        select author_id from posts where ${hasNoBlock} limit ${MAX_NEWEST_POSTS}
      ) posts ${join}
    ), blocks as materialized (
      select ends_at, skip from (
        select ends_at, ${offset}::int8 - (select visible_posts from newest)
          - coalesce(sum(posts - private_posts) over newer, 0) as skip
        from (select * from feed_blocks order by ends_at desc limit ${maxBlocks}) newest_blocks
        window newer as (order by ends_at desc rows between unbounded preceding and 1 preceding)
      ) blocks
      where skip >= 0
    ), ends as materialized (
      select array_agg(ends_at order by ends_at) as times from blocks
    ), private_posts as (
      -- The first element of an array has the subscript 1.
      select times[1 + width_bucket(created_at, times)] as ends_at, count(*) as posts
      from ends, (
        select created_at from posts
        where author_id in (${privateAccounts} and id = any(${authors}::int8[]))
          and created_at >= (select times[1] from ends) and created_at < (select max(ends_at) from blocks)
        limit ${MAX_PRIVATE_POSTS + 1}
      ) posts
      group by 1
    ), positions as (
      select ends_at, skip - coalesce(sum(posts) over newer, 0) as skip
      from blocks left join private_posts using (ends_at)
      window newer as (order by ends_at desc rows between unbounded preceding and 1 preceding)
    )
    select newest.posts as "newestPosts", (select count(*)::int from blocks) as "skippedBlocks", (
      select json_build_object('before', ends_at::text, 'skip', skip) from positions
      where skip >= 0 and (select coalesce(sum(posts), 0) from private_posts) <= ${MAX_PRIVATE_POSTS}
      order by ends_at limit 1
    ) as position
    from newest`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('Expected one row from the query for a position');
  return { ...row, position: row.position ?? undefined };
}

/** Starts to add blocks in the background: immediately, and then once per interval. */
export const startAddingFeedBlocks = (db: Database, log: Log) =>
  startPeriodic(INTERVAL_MS, async (signal) => {
    try {
      let mayLackMore = true;
      while (mayLackMore && !signal.aborted) mayLackMore = await addFeedBlocks(db);
    } catch (error) {
      // The circuit breaker logs outages. A lock that is held for longer, for example by a large deletion, is no fault.
      if (!(error instanceof StoreUnavailableError)) log.warn({ err: error }, 'failed to add blocks of the feed');
    }
  });

/**
 * Adds the oldest of the missing blocks, up to `MAX_NEW_BLOCKS`. Returns whether it added any.
 *
 * @throws StoreUnavailableError also if the lock is not available
 */
export async function addFeedBlocks(db: Database): Promise<boolean> {
  if (!(await isBlockMissing(db))) return false;
  return db.transaction().execute(async (trx) => {
    await lockFeedBlocks(trx);
    const { numAffectedRows = 0n } = await insertBlocks(trx);
    return numAffectedRows > 0n;
  });
}

/**
 * Locks the blocks, so that changes of their counts wait.
 *
 * @throws StoreUnavailableError if the lock is not available within `MAX_LOCK_WAIT_MS`
 */
export async function lockFeedBlocks(trx: DatabaseTransaction): Promise<void> {
  await sql`set local lock_timeout = ${sql.lit(MAX_LOCK_WAIT_MS)}`.execute(trx);
  await sql`lock table feed_blocks in share row exclusive mode`.execute(trx);
}

/** Returns whether enough posts belong to no block to add one. */
async function isBlockMissing(db: Database): Promise<boolean> {
  const newestPosts = MIN_NEWEST_POSTS + BLOCK_POSTS;
  const { rows } = await sql`select from posts where ${hasNoBlock} offset ${newestPosts - 1} limit 1`.execute(db);
  return rows.length > 0;
}

/** The end of a block is the creation time of its last post plus the resolution of the column, one millisecond. */
const insertBlocks = (trx: DatabaseTransaction) =>
  sql`
    with unblocked as materialized (
      select created_at, row_number() over (order by created_at) as number
      from posts where ${hasNoBlock}
      order by created_at limit ${MAX_NEW_BLOCKS * BLOCK_POSTS + MIN_NEWEST_POSTS}
    ), ends as materialized (
      select distinct created_at + interval '1 ms' as ends_at from unblocked
      where number % ${BLOCK_POSTS} = 0 and number <= (select count(*) from unblocked) - ${MIN_NEWEST_POSTS}
    )
    insert into feed_blocks (ends_at, posts, private_posts)
    select covering.ends_at, count(*), count(*) filter (where private)
    from posts ${withPrivacy}
    cross join lateral (select ends_at from ends where ends_at > posts.created_at order by ends_at limit 1) covering
    where ${hasNoBlock} and posts.created_at < (select max(ends_at) from ends)
    group by covering.ends_at`.execute(trx);
