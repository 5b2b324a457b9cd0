/*
 * Who may see what. A user's content is the user's posts with their images, the profile picture and the full profile:
 *
 *   If the owner's account is public    every user may see it.
 *   If the owner's account is private   the owner and the owner's friends may see it.
 *
 * `isVisible` implements the rule. Friendships are in the graph: `canSee` looks them up if necessary, and lists pass the friends
 * that they have read.
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

/** Returns whether the owner's content is visible to the viewer without a friendship. */
export const isPublicOrOwn = (viewer: number, owner: Owner) => isPublic(owner) || owner.id === viewer;

/** Returns whether the owner's content is visible to the viewer, who has these friends. */
export const isVisible = (viewer: number, owner: Owner, friends: ReadonlySet<number>) =>
  isPublicOrOwn(viewer, owner) || friends.has(owner.id);

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
