import { type RawBuilder, type SqlBool, sql } from 'kysely';

/*
 * Who may see what. A user's content is the user's posts with their images, the profile picture and the full profile:
 *
 *   If the owner's account is public    every user may see it.
 *   If the owner's account is private   the owner and the owner's friends may see it.
 *
 * The rule is implemented as a predicate (`isVisible`), as an SQL condition (`publicOr`), and as a query for the owners that do
 * not meet the condition (`hiddenOwners`). Three functions apply it in another form: `firstVisibleIds` and `mergedPage` in
 * `feed.ts` combine public posts with those of the viewer and of friends, and `lookUpPosition` in `feed-blocks.ts` counts both.
 * Friendships are in the graph: `canSee` looks them up if necessary, and a query receives the ids of the viewer's friends.
 *
 * A friendship must be read after the row of the content. In the reverse order, a post that was created after the end of the
 * friendship could be shown.
 */

/** The owner of a post or a picture. `private` is null if the account's row is missing, which counts as public. */
export interface Owner {
  id: number;
  private: boolean | null;
}

/**
 * The owner to assume for content that does not exist. Friends are then looked up as for hidden content. Otherwise the response
 * time of a 404 would reveal whether the content exists.
 */
export const NONEXISTENT_OWNER: Owner = { id: 0, private: true };

/** Finds out which of `others` are friends of `user`. The set may also contain friends that are not in `others`. */
export type FriendsLookup = (query: { user: number; others: readonly number[] }) => Promise<ReadonlySet<number>>;

const isPublic = (owner: Owner) => owner.private !== true;

/** The SQL form of `isPublic`. The query must contain the owner's column `private`. */
export const PUBLIC = sql<SqlBool>`private is not true`;

/** Returns whether the owner's content is visible to the viewer without a friendship. */
export const isPublicOrOwn = (viewer: number, owner: Owner) => isPublic(owner) || owner.id === viewer;

/** Returns whether the owner's content is visible to the viewer, who has these friends. */
export const isVisible = (viewer: number, owner: Owner, friends: ReadonlySet<number>) =>
  isPublicOrOwn(viewer, owner) || friends.has(owner.id);

/**
 * The SQL form of the rule. `isOwnerAllowed` is a condition that tests whether the owner is the viewer or, in lists, a
 * friend of the viewer.
 */
export const publicOr = (isOwnerAllowed: RawBuilder<SqlBool>) => sql<SqlBool>`(${PUBLIC} or ${isOwnerAllowed})`;

/** A query for the ids of the private accounts. */
export const privateAccounts = sql`select id from accounts where not (${PUBLIC})`;

/** A query for the ids of all owners whose content is hidden: those that do not meet `publicOr`. For scans of many rows. */
export const hiddenOwners = (isOwnerAllowed: RawBuilder<SqlBool>) =>
  sql`select id from accounts where not ${publicOr(isOwnerAllowed)}`;

/**
 * Returns whether the owner's content is visible to the viewer. Looks up the friendship if necessary.
 *
 * @param found the owner; undefined if the content does not exist
 */
export async function canSee(viewer: number, found: Owner | undefined, findFriends: FriendsLookup): Promise<boolean> {
  const owner = found ?? NONEXISTENT_OWNER;
  if (isPublicOrOwn(viewer, owner)) return true;
  return isVisible(viewer, owner, await findFriends({ user: viewer, others: [owner.id] }));
}
