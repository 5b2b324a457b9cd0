import { type Account, findAccounts } from './accounts.js';
import { batched } from './batch.js';
import { readFriends } from './friendships.js';
import type { SocialGraph } from './graph/index.js';
import { type Observer, unobserved } from './observer.js';
import type { Database } from './postgres/index.js';
import { findPosts, type NewestIds, newestIds, newestPosts, type PostRow } from './posts.js';
import { findSessions, type LiveSession } from './sessions.js';
import type { AskFriends } from './visibility.js';

/** How many of the newest posts one batch reads at most, for all who ask for a first page. */
export const WINDOW = 100;

/** Of how many of the newest posts one batch reads no more than the ids, for those who may see few of them. */
export const WIDE_WINDOW = 2000;

/** A post's likes, as one viewer sees them. */
export interface LikesSeen {
  count: number;
  liked: boolean;
}

interface LikesQuestion {
  viewer: number;
  posts: readonly number[];
}

/** The look-ups that go together across the requests in flight: see `batched`. */
export interface Readers {
  session(id: string): Promise<LiveSession | undefined>;
  account(id: number): Promise<Account | undefined>;
  post(id: number): Promise<PostRow | undefined>;
  /** The newest posts of all, whoever may see them: as many as asked for, or more. */
  newestPosts(count: number): Promise<readonly PostRow[]>;
  /** Likewise, without the posts themselves. */
  newestIds(count: number): Promise<NewestIds>;
  friends: AskFriends;
  friendsOf(person: number): Promise<readonly number[]>;
  likes(question: LikesQuestion): Promise<LikesSeen[]>;
}

export function createReaders(db: Database, graph: SocialGraph, observer: Observer = unobserved): Readers {
  const told = (name: keyof Readers) => (size: number) => observer.batch(name, size);
  return {
    session: batched((ids) => findSessions(db, ids), told('session')),
    account: batched((ids) => findAccounts(db, ids), told('account')),
    post: batched((ids) => findPosts(db, ids), told('post')),
    newestPosts: batched(async (counts) => {
      const rows = await newestPosts(db, Math.max(...counts));
      return counts.map(() => rows);
    }, told('newestPosts')),
    newestIds: batched(async (counts) => {
      const newest = await newestIds(db, Math.max(...counts));
      return counts.map(() => newest);
    }, told('newestIds')),
    friendsOf: batched((people) => graph.friendsOfEach(people), told('friendsOf')),
    friends: batched((questions) => readFriends(graph, questions), told('friends')),
    likes: batched((questions) => readLikes(graph, questions), told('likes')),
  };
}

async function readLikes(graph: SocialGraph, questions: readonly LikesQuestion[]): Promise<LikesSeen[][]> {
  const posts = [...new Set(questions.flatMap((question) => question.posts))];
  const viewers = [...new Set(questions.map(({ viewer }) => viewer))];
  const found = await graph.likesOf(posts, viewers);
  const likesOf = new Map(
    found.map(({ count, likers }, index) => [posts[index], { count, likers: new Set(likers) }] as const),
  );
  return questions.map(({ viewer, posts }) =>
    posts.map((post) => {
      const likes = likesOf.get(post);
      return { count: likes?.count ?? 0, liked: likes?.likers.has(viewer) ?? false };
    }),
  );
}
