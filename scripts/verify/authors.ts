import type { Inspection } from './inspection.js';
import { pages } from './pages.js';

/** One statement sees both, and an account goes with its posts in one transaction. */
export async function checkAuthors({ stores, findings, progress, pageSize }: Inspection): Promise<void> {
  const orphans = (after: number, limit: number) =>
    stores.maintenanceDb
      .selectFrom('posts')
      .leftJoin('accounts', 'accounts.id', 'posts.author_id')
      .select(['posts.id', 'author_id'])
      .where('accounts.id', 'is', null)
      .where('posts.id', '>', after)
      .orderBy('posts.id')
      .limit(limit)
      .execute();
  for await (const posts of pages(orphans, pageSize, ({ id }) => id)) {
    findings.add(
      'postHasAuthor',
      posts.map(({ id, author_id }) => `post ${id} of account ${author_id}`),
    );
    progress.advance(posts.length);
  }
}
