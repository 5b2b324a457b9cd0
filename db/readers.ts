import { type Account, findAccounts } from './accounts.js';
import { batched } from './batch.js';
import { readFriends } from './friendships.js';
import type { SocialGraph } from './graph/index.js';
import { type Observer, unobserved } from './observer.js';
import type { Database } from './postgres/index.js';
import { findPosts, newestPosts, type PostRow } from './posts.js';
import { findSessions, type LiveSession } from './sessions.js';
import type { AskFriends } from './visibility.js';

/** How many of the newest posts one batch reads at most, for all who ask for a first page. */
export const WINDOW = 100;

export interface LikesOfPost {
  count: number;
  liked: boolean;
}

/** The look-ups that go together across the requests in flight: see `batched`. */
export interface Readers {
  session(id: string): Promise<LiveSession | undefined>;
  account(id: number): Promise<Account | undefined>;
  post(id: number): Promise<PostRow | undefined>;
  /** The newest posts of all, whoever may see them: as many as asked for, or more. */
  newestPosts(count: number): Promise<readonly PostRow[]>;
  friends: AskFriends;
  likes(question: { viewer: number; posts: readonly number[] }): Promise<LikesOfPost[]>;
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
    friends: batched((questions) => readFriends(graph, questions), told('friends')),
    likes: batched((questions) => readLikes(graph, questions), told('likes')),
  };
}

async function readLikes(
  graph: SocialGraph,
  questions: readonly { viewer: number; posts: readonly number[] }[],
): Promise<LikesOfPost[][]> {
  const posts = [...new Set(questions.flatMap((question) => question.posts))];
  if (posts.length === 0) return questions.map(() => []);
  const viewers = [...new Set(questions.map(({ viewer }) => viewer))];
  const [counts, likes] = await Promise.all([graph.countLikes(posts), graph.likesAmong(viewers, posts)]);
  const countOf = new Map(posts.map((post, index) => [post, counts[index] ?? 0]));
  const likedBy = new Map(viewers.map((viewer) => [viewer, new Set<number>()]));
  for (const { person, post } of likes) likedBy.get(person)?.add(post);
  return questions.map(({ viewer, posts }) =>
    posts.map((post) => ({ count: countOf.get(post) ?? 0, liked: likedBy.get(viewer)?.has(post) ?? false })),
  );
}
