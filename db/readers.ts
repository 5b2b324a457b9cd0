import { type Account, findAccounts } from './accounts.js';
import type { SocialGraph } from './graph/index.js';
import type { Database } from './postgres/index.js';
import { findPostOwners, findPosts } from './posts.js';
import { friendsLookup, type RelationsQuery, readRelations } from './relations.js';
import { findSessions, type LiveSession } from './sessions.js';
import { batched } from './support/batch.js';
import { type Observer, observedBatches } from './support/observer.js';
import type { PostReaders } from './visible-posts.js';

/** Lookups that are batched across concurrent requests: see `support/batch.ts`. */
export interface Readers extends PostReaders {
  session(id: string): Promise<LiveSession | undefined>;
  account(id: number): Promise<Account | undefined>;
  /** Returns the ids of a user's friends. */
  friendsOf(user: number): Promise<readonly number[]>;
}

export function createReaders({ db, graph }: { db: Database; graph: SocialGraph }, observer: Observer): Readers {
  const batchOptions = (name: keyof Readers) => observedBatches(observer, name);
  const relations = batched((queries: RelationsQuery[]) => readRelations(graph, queries), batchOptions('relations'));
  return {
    session: batched((ids) => findSessions(db, ids), batchOptions('session')),
    account: batched((ids) => findAccounts(db, ids), batchOptions('account')),
    postOwner: batched(async (ids: number[]) => {
      const owners = await findPostOwners(db, ids);
      return ids.map((id) => owners.get(id));
    }, batchOptions('postOwner')),
    posts: batched((lists: (readonly number[])[]) => findPosts(db, lists), batchOptions('posts')),
    friendsOf: batched((people) => graph.friendsOfEach(people), batchOptions('friendsOf')),
    relations,
    friends: friendsLookup(relations),
  };
}
