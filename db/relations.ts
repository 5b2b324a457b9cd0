import type { SocialGraph } from './graph/index.js';
import type { FriendsLookup } from './visibility.js';

/** A post's likes, as one viewer sees them. */
export interface ViewerLikes {
  count: number;
  liked: boolean;
}

/** Who of `others` is a friend of the person, and what likes these posts have. */
export interface RelationsQuery {
  person: number;
  others: readonly number[];
  posts: readonly number[];
}

export interface Relations {
  friends: ReadonlySet<number>;
  likesOf(post: number): ViewerLikes;
}

/** Answers many people's questions by one look into the graph. */
export async function readRelations(graph: SocialGraph, questions: readonly RelationsQuery[]): Promise<Relations[]> {
  const people = distinct(questions.map(({ person }) => person));
  const posts = distinct(questions.flatMap((question) => question.posts));
  const others = distinct(questions.flatMap((question) => question.others));
  const found = await graph.relationsBetween(people, others, posts);
  const friendsOf = new Map(people.map((person) => [person, new Set<number>()]));
  for (const { person, friend } of found.friendships) friendsOf.get(person)?.add(friend);
  return questions.map(({ person }) => ({
    friends: friendsOf.get(person) ?? new Set(),
    likesOf(post) {
      const likes = found.likes.get(post);
      return { count: likes?.count ?? 0, liked: likes?.likers.includes(person) ?? false };
    },
  }));
}

/** Asks of all ties no more than for friends. */
export const friendsLookup =
  (ties: (question: RelationsQuery) => Promise<Relations>): FriendsLookup =>
  async (question) =>
    (await ties({ ...question, posts: [] })).friends;

const distinct = (ids: readonly number[]) => [...new Set(ids)];
