import { sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import { withPrivacy } from '../../db/posts.js';
import type { CheckContext } from './rules.js';

/** The blocks of the feed with their counts and the correct ones: see `db/feed-blocks.ts`. */
const COUNTED_BLOCKS = sql`
  (select *, lag(ends_at, 1, '-infinity') over (order by ends_at) as begins_at from feed_blocks) stored
  cross join lateral (
    select count(*)::int as posts, count(*) filter (where private)::int as private_posts
    from posts ${withPrivacy}
    where created_at >= stored.begins_at and created_at < stored.ends_at
  ) actual`;

interface IncorrectBlock {
  endsAt: string;
  stored: string;
  actual: string;
}

/**
 * Finds blocks of the feed whose counts are wrong. No second check is needed: one statement reads the posts and the counts,
 * which change in one transaction.
 */
export async function checkFeedBlocks({
  stores,
  findings,
  repair,
}: Pick<CheckContext, 'stores' | 'findings' | 'repair'>): Promise<void> {
  const { maintenanceDb } = stores;
  const { rows } = await sql<IncorrectBlock>`
    select ends_at as "endsAt", concat_ws(' of ', stored.private_posts, stored.posts) as stored,
      concat_ws(' of ', actual.private_posts, actual.posts) as actual
    from ${COUNTED_BLOCKS}
    where (stored.posts, stored.private_posts) <> (actual.posts, actual.private_posts)
    order by ends_at`.execute(maintenanceDb);
  if (repair) for (const { endsAt } of rows) await recount(maintenanceDb, endsAt);
  const violations = rows.map(
    ({ endsAt, stored, actual }) => `posts before ${endsAt}: ${stored} private instead of ${actual}`,
  );
  findings.add('feedBlocks', violations, repair ? rows.length : 0);
}

/** Locks the blocks, so that changes of their counts wait. */
async function recount(db: Database, endsAt: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`lock table feed_blocks in share row exclusive mode`.execute(trx);
    await sql`
      update feed_blocks set posts = actual.posts, private_posts = actual.private_posts
      from ${COUNTED_BLOCKS}
      where feed_blocks.ends_at = ${endsAt} and stored.ends_at = ${endsAt}`.execute(trx);
  });
}
