import type { CheckContext } from './context.js';
import { paginate } from './pages.js';

/**
 * Finds posts without an author. No second check is needed: one statement reads both tables, and an account is deleted with
 * its posts in one transaction.
 */
export async function checkAuthors({ stores, findings, progress, pageSize }: CheckContext): Promise<void> {
  const readOrphans = (after: number, limit: number) =>
    stores.maintenanceDb
      .selectFrom('posts')
      .leftJoin('accounts', 'accounts.id', 'posts.author_id')
      .select(['posts.id', 'author_id'])
      .where('accounts.id', 'is', null)
      .where('posts.id', '>', after)
      .orderBy('posts.id')
      .limit(limit)
      .execute();
  for await (const posts of paginate(readOrphans, pageSize, ({ id }) => id)) {
    findings.add(
      'postHasAuthor',
      posts.map(({ id, author_id }) => `post ${id} of account ${author_id}`),
    );
    progress.advance(posts.length);
  }
}
