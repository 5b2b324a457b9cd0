import type { Database, DatabaseTransaction } from '../postgres/index.js';

/*
 * The social graph: friendships, friend requests and likes. It has two implementations: Neo4j (`neo4j.ts`) and tables in
 * PostgreSQL (`tables.ts`). A person is the node of an account, and has the same id.
 */

export interface Friendship {
  person: number;
  friend: number;
}

export interface Like {
  person: number;
  post: number;
}

/** The like count of a post, and which of the queried people like it. */
export interface LikesOfPost {
  count: number;
  likers: readonly number[];
}

/** The result of `relationsBetween`. */
interface RelationsBetween {
  /** The friendships between `people` and `others`. `person` is one of `people`, `friend` is one of `others`. */
  friendships: Friendship[];
  /** The likes by post id. A post without likes may be missing. */
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

/** Directed edges. A friendship has one edge in each direction. */
export interface Edges {
  friendships: Friendship[];
  requests: FriendRequest[];
  likes: Like[];
}

/**
 * Reads and writes the graph in bulk, for verification, moves and generated data. Ids are read in pages: the first `limit` ids
 * above `after`, ascending.
 */
export interface BulkAccess {
  personIds(after: number, limit: number): Promise<number[]>;
  postIds(after: number, limit: number): Promise<number[]>;
  /** Returns the friendships and requests that start or end at one of these people, and their likes. */
  edgesOf(people: readonly number[]): Promise<Edges>;
  /** Creates the nodes that do not exist. */
  ensureNodes(nodes: Nodes): Promise<void>;
  /** Creates the edges that do not exist, and their endpoints. */
  addEdges(edges: Edges): Promise<void>;
}

/** The maximum number of edges that one call of `removePerson` or `removePost` removes; with tables, from each table. */
export const MAX_EDGES_PER_REMOVAL = 1000;

/** `sent`, or the existing relation that prevents the request. */
export type RequestOutcome = 'sent' | 'friends' | 'alreadySent' | 'alreadyReceived';

/**
 * The store of likes, friend requests and friendships. They are stored only here: a post's `like_count` is computed from the
 * graph.
 *
 * `request`, `accept`, `decline`, `cancel` and `unfriend` are atomic: if several calls conflict, exactly one of them succeeds.
 */
export interface SocialGraph {
  /** The kind that the table `installation` records. `embedded` means tables, even if PostgreSQL itself is a server. */
  readonly kind: 'embedded' | 'neo4j';
  /** Whether accounts and posts need nodes. If not, new accounts and posts need no outbox entry. */
  readonly hasNodes: boolean;
  /** How long after a call has begun the server may still commit its write, even if the call was abandoned; 0 if it cannot. */
  readonly maxCommitDelayMs: number;

  /** Returns the graph for use while `trx` holds the advisory locks. With tables, the graph's writes are part of `trx`. */
  within(trx: DatabaseTransaction): SocialGraph;

  /** Returns the friendships between two lists of people, and the likes of posts. A page of posts needs both. */
  relationsBetween(
    people: readonly number[],
    others: readonly number[],
    posts: readonly number[],
  ): Promise<RelationsBetween>;
  /** Returns one list of friends for each person, in the order of `people`. */
  friendsOfEach(people: readonly number[]): Promise<number[][]>;
  /** Returns the people with a pending request to this person. */
  requestersOf(person: number): Promise<number[]>;

  /** Adds the likes that do not exist. */
  like(likes: readonly Like[]): Promise<void>;
  /** Removes the likes that exist. */
  unlike(likes: readonly Like[]): Promise<void>;

  /** Sends a friend request, unless the two are already related. */
  request(from: number, to: number): Promise<RequestOutcome>;
  /** Accepts a friend request. Like the next three methods, it returns false if there is no such request or friendship. */
  accept(by: number, from: number): Promise<boolean>;
  decline(by: number, from: number): Promise<boolean>;
  cancel(by: number, to: number): Promise<boolean>;
  unfriend(by: number, friend: number): Promise<boolean>;

  /** Creates the nodes that do not exist. */
  ensureNodes(nodes: Nodes): Promise<void>;
  /**
   * Removes the node of a person, if it exists, with its edges. Returns false if edges may be left, because a call removes only
   * `MAX_EDGES_PER_REMOVAL`. The caller must then repeat the call. The limit keeps each call within its timeout, and its locks
   * short.
   */
  removePerson(id: number): Promise<boolean>;
  /** Removes the node of a post, like `removePerson`. */
  removePost(id: number): Promise<boolean>;

  readonly bulk: BulkAccess;
  /** Returns the id of the installation that has claimed the graph, if any. */
  claimedBy(): Promise<string | undefined>;
  /** Claims the graph. Does nothing if an installation has already claimed it. */
  claim(installation: string): Promise<void>;
  /** Removes the claim of any installation. */
  release(): Promise<void>;
  /** Returns the highest ids in the graph; 0 if there are none. */
  highestIds(): Promise<{ person: number; post: number }>;
  /** Creates missing constraints and indexes. */
  migrate(): Promise<void>;
  /** Prepares a server that has just started, so that its first calls are not slow. Does not change the graph. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}

/** What a write to the graph needs. Unless it only creates nodes, it runs in a PostgreSQL transaction, which holds the locks. */
export interface GraphWriteStores {
  graphTransactions: Database;
  graph: SocialGraph;
}
