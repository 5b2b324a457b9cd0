import { type RawBuilder, sql } from 'kysely';
import { lockFeedBlocks } from '../../db/feed-blocks.js';
import type { Database } from '../../db/postgres/index.js';
import { withPrivacy } from '../../db/posts.js';
import { retryUntilAvailable } from '../../db/support/retry.js';
import type { CheckContext } from './rules.js';

/** Builds a subquery for the correct counts of a block. */
const actualCounts = (beginsAt: RawBuilder<unknown>, endsAt: RawBuilder<unknown>) => sql`(
  select count(*)::int as posts, count(*) filter (where private)::int as private_posts
  from posts ${withPrivacy}
  where created_at >= ${beginsAt} and created_at < ${endsAt}
) actual`;

interface IncorrectBlock {
  beginsAt: string;
  endsAt: string;
  stored: string;
  actual: string;
}

/**
 * Finds blocks of the feed whose counts are wrong: see `db/feed-blocks.ts`. No second check is needed: one statement reads the
 * posts and the counts, which change in one transaction.
 */
export async function checkFeedBlocks({
  stores,
  findings,
  repair,
}: Pick<CheckContext, 'stores' | 'findings' | 'repair'>): Promise<void> {
  const { maintenanceDb } = stores;
  const { rows } = await sql<IncorrectBlock>`
    select begins_at::text as "beginsAt", ends_at as "endsAt", concat_ws(' of ', stored.private_posts, stored.posts) as stored,
      concat_ws(' of ', actual.private_posts, actual.posts) as actual
    from (select *, lag(ends_at, 1, '-infinity') over (order by ends_at) as begins_at from feed_blocks) stored
    cross join lateral ${actualCounts(sql`begins_at`, sql`ends_at`)}
    where (stored.posts, stored.private_posts) <> (actual.posts, actual.private_posts)
    order by ends_at`.execute(maintenanceDb);
  if (repair) for (const block of rows) await retryUntilAvailable(() => recount(maintenanceDb, block));
  const violations = rows.map(
    ({ endsAt, stored, actual }) => `posts before ${endsAt}: ${stored} private instead of ${actual}`,
  );
  findings.add('feedBlocks', violations, repair ? rows.length : 0);
}

async function recount(db: Database, { beginsAt, endsAt }: IncorrectBlock): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockFeedBlocks(trx);
    await sql`
      update feed_blocks set posts = actual.posts, private_posts = actual.private_posts
      from ${actualCounts(sql`${beginsAt}::timestamptz`, sql`${endsAt}::timestamptz`)}
      where ends_at = ${endsAt}::timestamptz`.execute(trx);
  });
}
