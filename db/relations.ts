import type { SocialGraph } from './graph/index.js';
import type { FriendsLookup } from './visibility.js';

/** A post's likes from the perspective of one viewer. */
export interface ViewerLikes {
  count: number;
  liked: boolean;
}

/** A query for the friends of `person` among `others`, and for the likes of `posts`. */
export interface RelationsQuery {
  person: number;
  others: readonly number[];
  posts: readonly number[];
}

/** The result of a `RelationsQuery`. */
export interface Relations {
  /** May also contain friends that are not in `others`, because all queries of one person in a batch share this set. */
  friends: ReadonlySet<number>;
  likesOf(post: number): ViewerLikes;
}

/** Runs the queries of many people with one call to the graph. Returns the results in the order of the queries. */
export async function readRelations(graph: SocialGraph, queries: readonly RelationsQuery[]): Promise<Relations[]> {
  const people = new Set<number>();
  const others = new Set<number>();
  const posts = new Set<number>();
  // Without `flatMap`, because concatenating the ids of all queries takes a few percent of the time of a feed.
  for (const query of queries) {
    people.add(query.person);
    for (const id of query.others) others.add(id);
    for (const id of query.posts) posts.add(id);
  }
  const found = await graph.relationsBetween([...people], [...others], [...posts]);
  const friendsOf = new Map([...people].map((person) => [person, new Set<number>()]));
  for (const { person, friend } of found.friendships) friendsOf.get(person)?.add(friend);
  return queries.map(({ person }) => ({
    friends: friendsOf.get(person) ?? new Set(),
    likesOf(post) {
      const likes = found.likes.get(post);
      return { count: likes?.count ?? 0, liked: likes?.likers.includes(person) ?? false };
    },
  }));
}

/** Creates a lookup of friends on top of a lookup of relations, so that both share its batches. */
export const friendsLookup =
  (relations: (query: RelationsQuery) => Promise<Relations>): FriendsLookup =>
  async (query) =>
    (await relations({ ...query, posts: [] })).friends;
