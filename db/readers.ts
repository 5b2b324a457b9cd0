import { type Account, findAccounts } from './accounts.js';
import type { SocialGraph } from './graph/index.js';
import type { Database } from './postgres/index.js';
import {
  type FoundPost,
  findOpenPosts,
  findPosts,
  type NewestIds,
  newestIds,
  newestPosts,
  type PostQuestion,
  type PostRow,
} from './posts.js';
import { friendsBy, readTies, type TiesQuestion, type TiesSeen } from './relations.js';
import { findSessions, type LiveSession } from './sessions.js';
import { batched } from './support/batch.js';
import { type Observer, unobserved } from './support/observer.js';
import type { AskFriends } from './visibility.js';

/** How many of the newest posts one batch reads at most, for all who ask for a first page. */
export const WINDOW = 100;

/** Of how many of the newest posts one batch reads no more than the ids, for those who may see few of them. */
export const WIDE_WINDOW = 2000;

/** The look-ups that go together across the requests in flight: see `batched`. */
export interface Readers {
  session(id: string): Promise<LiveSession | undefined>;
  account(id: number): Promise<Account | undefined>;
  /** A post with its content, if the viewer may see that whoever their friends are. */
  openPost(question: PostQuestion): Promise<FoundPost | undefined>;
  /** Those of these posts that are there, in their order. */
  posts(ids: readonly number[]): Promise<PostRow[]>;
  /** The newest posts of all, whoever may see them: as many as asked for, or more. */
  newestPosts(count: number): Promise<readonly PostRow[]>;
  /** Likewise, without the posts themselves. */
  newestIds(count: number): Promise<NewestIds>;
  ties(question: TiesQuestion): Promise<TiesSeen>;
  friends: AskFriends;
  friendsOf(person: number): Promise<readonly number[]>;
}

export function createReaders(db: Database, graph: SocialGraph, observer: Observer = unobserved): Readers {
  const told = (name: keyof Readers) => ({ onBatch: (size: number) => observer.batch(name, size) });
  const ties = batched((questions: TiesQuestion[]) => readTies(graph, questions), told('ties'));
  return {
    session: batched((ids) => findSessions(db, ids), told('session')),
    account: batched((ids) => findAccounts(db, ids), told('account')),
    openPost: batched((questions: PostQuestion[]) => findOpenPosts(db, questions), told('openPost')),
    posts: batched((lists: (readonly number[])[]) => readPosts(db, lists), told('posts')),
    newestPosts: batched(async (counts) => {
      const rows = await newestPosts(db, Math.max(...counts));
      return counts.map(() => rows);
    }, told('newestPosts')),
    newestIds: batched(async (counts) => {
      const newest = await newestIds(db, Math.max(...counts));
      return counts.map(() => newest);
    }, told('newestIds')),
    friendsOf: batched((people) => graph.friendsOfEach(people), told('friendsOf')),
    ties,
    friends: friendsBy(ties),
  };
}

async function readPosts(db: Database, lists: readonly (readonly number[])[]): Promise<PostRow[][]> {
  const found = await findPosts(db, [...new Set(lists.flat())]);
  return lists.map((list) => list.flatMap((id) => found.get(id) ?? []));
}
