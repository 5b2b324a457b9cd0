import { type RawBuilder, type SqlBool, sql } from 'kysely';

/*
 * Visibility of a user's content: posts with their images, the profile picture, the full profile. It is visible to:
 *
 *   The owner's account is public    every user
 *   The owner's account is private   the owner and the owner's friends
 *
 * The rule is implemented twice, both times in this file: as a predicate and as an SQL condition (`publicOr`, or its negation). Friendships are in the graph,
 * so the predicate looks them up if necessary, and a query receives the friends' ids. A friendship is read after the owner's
 * row: in the reverse order, a post created after the friendship ended could be shown.
 */

/** The owner of a post or a picture. `private` is null if the account's row is missing, which counts as public. */
export interface Owner {
  id: number;
  private: boolean | null;
}

/**
 * Stands in for the owner of missing content, so that friends are looked up as for hidden content. Otherwise the time of a 404
 * would reveal which of the two it is.
 */
const NONEXISTENT_OWNER: Owner = { id: 0, private: true };

/** Returns the friends of `person` among `others`. The set may contain further friends of `person`. */
export type FriendsLookup = (query: { person: number; others: readonly number[] }) => Promise<ReadonlySet<number>>;

const isPublic = (owner: Owner) => owner.private !== true;

/** SQL form of `isPublic`. The query must expose the owner's column `private`. */
export const PUBLIC = sql<SqlBool>`private is not true`;

/** Returns whether the owner's content is visible to the viewer without a friendship. */
export const isPublicOrOwn = (viewer: number, owner: Owner) => isPublic(owner) || owner.id === viewer;

/** SQL form: public, or `isOwnerAllowed`, which tests whether the owner is the viewer or, in lists, a friend. */
export const publicOr = (isOwnerAllowed: RawBuilder<SqlBool>) => sql<SqlBool>`(${PUBLIC} or ${isOwnerAllowed})`;

/** The ids of the private accounts. */
export const privateAccounts = sql`select id from accounts where not (${PUBLIC})`;

/** Negation of `publicOr` for scans of many rows: the ids of all owners whose content is hidden. */
export const hiddenOwners = (isOwnerAllowed: RawBuilder<SqlBool>) =>
  sql`select id from accounts where not ${publicOr(isOwnerAllowed)}`;

/** Returns whether the owner's content is visible to the viewer. `owner` is undefined if the content does not exist. */
export async function canSee(
  viewer: number,
  owner: Owner | undefined = NONEXISTENT_OWNER,
  findFriends: FriendsLookup,
): Promise<boolean> {
  if (isPublicOrOwn(viewer, owner)) return true;
  return (await findFriends({ person: viewer, others: [owner.id] })).has(owner.id);
}
