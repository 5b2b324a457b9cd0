import { type Account, findAccounts } from './accounts.js';
import type { SocialGraph } from './graph/index.js';
import type { Database } from './postgres/index.js';
import {
  type FoundPost,
  findPosts,
  findPostsPublicOrOwn,
  type NewestIds,
  newestIds,
  newestPosts,
  type PostQuery,
  type PostRow,
} from './posts.js';
import { friendsLookup, type Relations, type RelationsQuery, readRelations } from './relations.js';
import { findSessions, type LiveSession } from './sessions.js';
import { batched } from './support/batch.js';
import { noopObserver, type Observer } from './support/observer.js';
import type { FriendsLookup } from './visibility.js';

/** How many of the newest posts one batch reads at most, for all who ask for a first page. */
export const WINDOW_POSTS = 100;

/** Of how many of the newest posts one batch reads no more than the ids, for those who may see few of them. */
export const WIDE_WINDOW_POSTS = 2000;

/** The look-ups that go together across the requests in flight: see `batched`. */
export interface Readers {
  session(id: string): Promise<LiveSession | undefined>;
  account(id: number): Promise<Account | undefined>;
  /** A post with its content, if the viewer may see that whoever their friends are. */
  postIfPublicOrOwn(question: PostQuery): Promise<FoundPost | undefined>;
  /** Those of these posts that are there, in their order. */
  posts(ids: readonly number[]): Promise<PostRow[]>;
  /** The newest posts of all, whoever may see them: as many as asked for, or more. */
  newestPosts(count: number): Promise<readonly PostRow[]>;
  /** Likewise, without the posts themselves. */
  newestIds(count: number): Promise<NewestIds>;
  relations(question: RelationsQuery): Promise<Relations>;
  friends: FriendsLookup;
  friendsOf(person: number): Promise<readonly number[]>;
}

export function createReaders(db: Database, graph: SocialGraph, observer: Observer = noopObserver): Readers {
  const reportBatchSize = (name: keyof Readers) => ({ onBatch: (size: number) => observer.batch(name, size) });
  const relations = batched(
    (questions: RelationsQuery[]) => readRelations(graph, questions),
    reportBatchSize('relations'),
  );
  return {
    session: batched((ids) => findSessions(db, ids), reportBatchSize('session')),
    account: batched((ids) => findAccounts(db, ids), reportBatchSize('account')),
    postIfPublicOrOwn: batched(
      (questions: PostQuery[]) => findPostsPublicOrOwn(db, questions),
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
