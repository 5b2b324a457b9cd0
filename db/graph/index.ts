import type { DatabaseTransaction } from '../postgres/index.js';

export interface Friendship {
  person: number;
  friend: number;
}

export interface Like {
  person: number;
  post: number;
}

/** The like count of a post, and the users of the query that like it. */
export interface LikesOfPost {
  count: number;
  likers: readonly number[];
}

/** The result of `relationsBetween`. */
export interface RelationsBetween {
  /** Between `people` and `others`, with the `person` from `people`. */
  friendships: Friendship[];
  /** By post. A post without likes may be missing. */
  likes: ReadonlyMap<number, LikesOfPost>;
}

export interface FriendRequest {
  from: number;
  to: number;
}

export interface Nodes {
  people: readonly number[];
  posts: readonly number[];
}

/** Directed edges. A friendship has one in each direction. */
export interface Edges {
  friendships: Friendship[];
  requests: FriendRequest[];
  likes: Like[];
}

/** Reads and changes the whole graph, for verification and moves. Pages of ids are in ascending order and start after `after`. */
export interface GraphSnapshot {
  personIds(after: number, limit: number): Promise<number[]>;
  postIds(after: number, limit: number): Promise<number[]>;
  /** Returns the friendships and requests that start or end at one of these users, and their likes. */
  edgesOf(people: readonly number[]): Promise<Edges>;
  /** Creates the nodes that do not exist. */
  ensureNodes(nodes: Nodes): Promise<void>;
  /** Creates the edges that do not exist, and their endpoints. */
  addEdges(edges: Edges): Promise<void>;
  removeEdges(edges: Edges): Promise<void>;
}

/** `sent`, or the existing relation that prevents the request. */
export type RequestOutcome = 'sent' | 'friends' | 'alreadySent' | 'alreadyReceived';

/**
 * Likes, friend requests and friendships. The graph is their only source: `like_count` is not stored with the post.
 *
 * `request` and the four methods after it are atomic: of several conflicting calls, exactly one succeeds.
 */
export interface SocialGraph {
  /** Recorded in the `installation` table. */
  readonly kind: 'embedded' | 'neo4j';
  /** Whether users and posts need nodes. If not, their creation needs no delivery. */
  readonly hasNodes: boolean;
  /** How long the server may still commit a write after the client gave it up, in milliseconds; 0 if it cannot. */
  readonly maxCommitDelayMs: number;

  /**
   * Returns the graph for use inside a transaction that holds the advisory locks. The embedded graph runs its statements in
   * that transaction.
   */
  within(trx: DatabaseTransaction): SocialGraph;

  /** Returns friendships and likes in one round trip, because a page of posts needs both. */
  relationsBetween(
    people: readonly number[],
    others: readonly number[],
    posts: readonly number[],
  ): Promise<RelationsBetween>;
  friendsOf(person: number): Promise<number[]>;
  /** Returns one list for each user, in the order of `people`. */
  friendsOfEach(people: readonly number[]): Promise<number[][]>;
  /** Returns the users with a pending request to this user. */
  requestersOf(person: number): Promise<number[]>;

  like(likes: readonly Like[]): Promise<void>;
  unlike(likes: readonly Like[]): Promise<void>;

  request(from: number, to: number): Promise<RequestOutcome>;
  /** Like the three methods below, returns false if there is no such request or friendship. */
  accept(by: number, from: number): Promise<boolean>;
  decline(by: number, from: number): Promise<boolean>;
  cancel(by: number, to: number): Promise<boolean>;
  unfriend(by: number, friend: number): Promise<boolean>;

  /** Creates the nodes that do not exist. */
  ensureNodes(nodes: Nodes): Promise<void>;
  /** Removes the node and its edges, if it exists. */
  removePerson(id: number): Promise<void>;
  removePost(id: number): Promise<void>;

  readonly snapshot: GraphSnapshot;
  /** Returns the installation that has claimed the graph, if any. */
  claimedBy(): Promise<string | undefined>;
  /** Claims the graph. Does nothing if an installation other than `previous` has claimed it. */
  claim(installation: string, previous?: string): Promise<void>;
  /** Removes the claim of any installation. */
  release(): Promise<void>;
  /** Returns the highest ids in use, 0 for none. */
  highestIds(): Promise<{ person: number; post: number }>;
  /** Creates missing constraints and indexes. Idempotent. */
  migrate(): Promise<void>;
  /** Prepares a store that has just started, so that its first calls are not slow. Changes nothing. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}
