import { type Account, findAccounts } from './accounts.js';
import { type FeedReaders, newestIds, newestPosts } from './feed.js';
import type { SocialGraph } from './graph/index.js';
import type { Database } from './postgres/index.js';
import { findPosts, findPostsPublicOrOwn, type PostQuery, type PostRow } from './posts.js';
import { friendsLookup, type RelationsQuery, readRelations } from './relations.js';
import { findSessions, type LiveSession } from './sessions.js';
import { batched } from './support/batch.js';
import { noopObserver, type Observer } from './support/observer.js';

/** Look-ups that are batched across concurrent requests: see `batched`. */
export interface Readers extends FeedReaders {
  session(id: string): Promise<LiveSession | undefined>;
  account(id: number): Promise<Account | undefined>;
}

export function createReaders(db: Database, graph: SocialGraph, observer: Observer = noopObserver): Readers {
  const reportBatchSize = (name: keyof Readers) => ({ onBatch: (size: number) => observer.batch(name, size) });
  const relations = batched((queries: RelationsQuery[]) => readRelations(graph, queries), reportBatchSize('relations'));
  return {
    session: batched((ids) => findSessions(db, ids), reportBatchSize('session')),
    account: batched((ids) => findAccounts(db, ids), reportBatchSize('account')),
    postIfPublicOrOwn: batched(
      (queries: PostQuery[]) => findPostsPublicOrOwn(db, queries),
      reportBatchSize('postIfPublicOrOwn'),
    ),
    posts: batched((lists: (readonly number[])[]) => readPosts(db, lists), reportBatchSize('posts')),
    newestPosts: batched(async (counts) => {
      const rows = await newestPosts(db, Math.max(...counts));
      return counts.map(() => rows);
    }, reportBatchSize('newestPosts')),
    newestIds: batched(async (counts) => {
      const newest = await newestIds(db, Math.max(...counts));
      return counts.map(() => newest);
    }, reportBatchSize('newestIds')),
    friendsOf: batched((people) => graph.friendsOfEach(people), reportBatchSize('friendsOf')),
    relations,
    friends: friendsLookup(relations),
  };
}

async function readPosts(db: Database, lists: readonly (readonly number[])[]): Promise<PostRow[][]> {
  const found = await findPosts(db, [...new Set(lists.flat())]);
  return lists.map((list) => list.flatMap((id) => found.get(id) ?? []));
}
