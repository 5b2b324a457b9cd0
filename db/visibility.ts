import { sql } from 'kysely';

/*
 * Who may see what. A user's content is the user's posts with their images, the profile picture and the full profile:
 *
 *   If the owner's account is public     every user may see it.
 *   If the owner's account is private    the owner and the owner's friends may see it.
 *   If the owner's account is disabled   nobody may see it: for users, the account does not exist.
 *
 * `isVisible` implements the rule. Friendships are in the graph: `canSee` looks them up if necessary, and lists pass the friends
 * that they have read.
 *
 * A friendship must be read after the row of the content. In the reverse order, a post that was created after the end of the
 * friendship could be shown.
 */

/** Who may see a user's content, besides the user. */
export type Audience = 'everybody' | 'friends' | 'nobody';

/** The owner of a post or a picture. */
export interface Owner {
  id: number;
  audience: Audience;
}

/** The audience of a row of `accounts`, in SQL. A missing row counts as that of a public account. */
export const AUDIENCE = sql<Audience>`
  case when accounts.disabled_at is not null then 'nobody' when accounts.private then 'friends' else 'everybody' end`;

/** The condition under which a row of `accounts` exists for users, in SQL. */
export const IS_ENABLED = sql<boolean>`accounts.disabled_at is null`;

/** Returns an account that exists for users as the owner of its content. */
export const asOwner = ({ id, private: isPrivate }: { id: number; private: boolean }): Owner => ({
  id,
  audience: isPrivate ? 'friends' : 'everybody',
});

/**
 * The owner to assume for content that does not exist. Friends are then looked up as for hidden content. Otherwise the response
 * time of a 404 would reveal whether the content exists.
 */
export const NONEXISTENT_OWNER: Owner = { id: 0, audience: 'friends' };

/** Finds out which of `others` are friends of `user`. The set may also contain friends that are not in `others`. */
export type FriendsLookup = (query: { user: number; others: readonly number[] }) => Promise<ReadonlySet<number>>;

/** Returns whether the owner's content is visible to the viewer without a friendship. */
export const isPublicOrOwn = (viewer: number, { id, audience }: Owner) =>
  audience === 'everybody' || (audience === 'friends' && id === viewer);

/** Returns whether the owner's content is visible to the viewer, who has these friends. */
export const isVisible = (viewer: number, owner: Owner, friends: ReadonlySet<number>) =>
  isPublicOrOwn(viewer, owner) || (owner.audience === 'friends' && friends.has(owner.id));

/**
 * Returns whether the owner's content is visible to the viewer. Looks up the friendship if necessary.
 *
 * @param found the owner; undefined if the content does not exist
 */
export async function canSee(viewer: number, found: Owner | undefined, findFriends: FriendsLookup): Promise<boolean> {
  const owner = found && found.audience !== 'nobody' ? found : NONEXISTENT_OWNER;
  if (isPublicOrOwn(viewer, owner)) return true;
  return isVisible(viewer, owner, await findFriends({ user: viewer, others: [owner.id] }));
}
