import type { DatabaseTransaction } from '../postgres.js';

export interface Friendship {
  person: number;
  friend: number;
}

export interface Like {
  person: number;
  post: number;
}

/** What stands in the way of a friend request; `sent` when nothing does. */
export type RequestOutcome = 'sent' | 'friends' | 'pending';

/**
 * Who likes what, and who is whose friend. The only place that knows: `like_count` is counted here, never kept beside it.
 *
 * Transitions happen whole or not at all, and exactly one of several that exclude each other succeeds.
 */
export interface SocialGraph {
  /**
   * The graph as seen and changed by a transaction that holds the locks of whom it touches. A graph that lives in
   * PostgreSQL does its work inside that transaction.
   */
  within(trx: DatabaseTransaction): SocialGraph;

  /** Who of these people is a friend of which of the others. */
  friendsAmong(people: readonly number[], others: readonly number[]): Promise<Friendship[]>;
  friendsOf(person: number): Promise<number[]>;
  /** Who has asked this person and waits. */
  requestersOf(person: number): Promise<number[]>;
  /** One number for each post, in the order of the posts. */
  countLikes(posts: readonly number[]): Promise<number[]>;
  /** Who of these people likes which of these posts. */
  likesAmong(people: readonly number[], posts: readonly number[]): Promise<Like[]>;

  like(likes: readonly Like[]): Promise<void>;
  unlike(likes: readonly Like[]): Promise<void>;

  request(from: number, to: number): Promise<RequestOutcome>;
  /** `by` accepts what `from` has asked. False when there is no such request; so with the next three. */
  accept(by: number, from: number): Promise<boolean>;
  decline(by: number, from: number): Promise<boolean>;
  cancel(by: number, to: number): Promise<boolean>;
  unfriend(by: number, friend: number): Promise<boolean>;

  /** Makes the node if it is missing. */
  keepPerson(id: number): Promise<void>;
  keepPost(id: number): Promise<void>;
  /** Removes the node, if it is there, with all that ties to it. */
  removePerson(id: number): Promise<void>;
  removePost(id: number): Promise<void>;
}
