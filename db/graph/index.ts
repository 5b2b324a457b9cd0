import type { DatabaseTransaction } from '../postgres/index.js';

export interface Friendship {
  person: number;
  friend: number;
}

export interface Like {
  person: number;
  post: number;
}

/** How many like a post, and who of those that were asked about is among them. */
export interface LikesOfPost {
  count: number;
  likers: readonly number[];
}

/** What ties people to others and to posts. */
export interface RelationsBetween {
  /** Who of the people is a friend of which of the others. */
  friendships: Friendship[];
  /** By post. One that nobody likes may be missing. */
  likes: ReadonlyMap<number, LikesOfPost>;
}

export interface Request {
  from: number;
  to: number;
}

export interface Nodes {
  people: readonly number[];
  posts: readonly number[];
}

/** Ties as they are stored: a friendship is one in each direction. */
export interface Edges {
  friendships: Friendship[];
  requests: Request[];
  likes: Like[];
}

/** What a graph holds, for whoever checks or copies all of it. Ids come in ascending order, the next after `after`. */
export interface GraphSnapshot {
  personIds(after: number, limit: number): Promise<number[]>;
  postIds(after: number, limit: number): Promise<number[]>;
  /** Every friendship and request that starts or ends at one of these people, and every like of theirs. */
  edgesOf(people: readonly number[]): Promise<Edges>;
  /** Makes those of these nodes that are missing. */
  ensureNodes(nodes: Nodes): Promise<void>;
  /** Adds these ties, and the nodes they need. What is there already stays as it is. */
  addEdges(ties: Edges): Promise<void>;
  /** Removes these, each in its own direction only; of several alike all but `keep`. */
  removeEdges(ties: Edges, keep?: 0 | 1): Promise<void>;
}

/** What stands in the way of a friend request; `sent` when nothing does. */
export type RequestOutcome = 'sent' | 'friends' | 'pending';

/**
 * Who likes what, and who is whose friend. The only place that knows: `like_count` is counted here, never kept beside it.
 *
 * Transitions happen whole or not at all, and exactly one of several that exclude each other succeeds.
 */
export interface SocialGraph {
  /** By which PostgreSQL remembers what it belongs to. */
  readonly kind: 'embedded' | 'neo4j';
  /**
   * How long a change that was given up may still happen, in milliseconds: a server may carry it out after its asker is
   * gone. 0 where that cannot be.
   */
  readonly maxCommitDelayMs: number;

  /**
   * The graph as seen and changed by a transaction that holds the locks of whom it touches. A graph that lives in
   * PostgreSQL does its work inside that transaction.
   */
  within(trx: DatabaseTransaction): SocialGraph;

  /** Friendships and likes in one look, since a page of posts takes both. */
  relationsBetween(
    people: readonly number[],
    others: readonly number[],
    posts: readonly number[],
  ): Promise<RelationsBetween>;
  friendsOf(person: number): Promise<number[]>;
  /** The same of many people, in their order. */
  friendsOfEach(people: readonly number[]): Promise<number[][]>;
  /** Who has asked this person and waits. */
  requestersOf(person: number): Promise<number[]>;

  like(likes: readonly Like[]): Promise<void>;
  unlike(likes: readonly Like[]): Promise<void>;

  request(from: number, to: number): Promise<RequestOutcome>;
  /** `by` accepts what `from` has asked. False when there is no such request; so with the next three. */
  accept(by: number, from: number): Promise<boolean>;
  decline(by: number, from: number): Promise<boolean>;
  cancel(by: number, to: number): Promise<boolean>;
  unfriend(by: number, friend: number): Promise<boolean>;

  /** Makes those of these nodes that are missing. */
  ensureNodes(nodes: Nodes): Promise<void>;
  /** Removes the node, if it is there, with all that ties to it. */
  removePerson(id: number): Promise<void>;
  removePost(id: number): Promise<void>;

  readonly snapshot: GraphSnapshot;
  /** Whose graph this is: the installation that has marked it, if any has. */
  claimedBy(): Promise<string | undefined>;
  /** Marks it, unless somebody else than `instead` has. */
  claim(installation: string, instead?: string): Promise<void>;
  /** Takes the mark off, whosever it is. */
  release(): Promise<void>;
  /** The highest ids in use, 0 for none. */
  highestIds(): Promise<{ person: number; post: number }>;
  /** Brings constraints and indexes up to date. Safe to repeat. */
  migrate(): Promise<void>;
  /** Prepares a store that has just started for its first calls. Changes nothing. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}
