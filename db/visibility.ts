/** Whose thing is looked at: a post's author, a picture's owner. `private` is null when the account's row is missing. */
export interface Owner {
  id: number;
  private: boolean | null;
}

/** Whose what does not exist is: the graph is asked about it too, since its silence would tell what exists and is hidden. */
const NONEXISTENT_OWNER: Owner = { id: 0, private: true };

/** Answers who of others is a friend of one person. */
export type FriendsLookup = (question: { person: number; others: readonly number[] }) => Promise<ReadonlySet<number>>;

/** What is public is everybody's; what is private is its owner's and the owner's friends'. */
export const isPublicOrOwn = (viewer: number, owner: Owner) => owner.private !== true || owner.id === viewer;

/**
 * Whether the viewer may see what is this owner's; undefined is the owner of what does not exist. To be asked after the
 * owner's row was read: asked before, a friendship that has ended since would show what came after it.
 */
export async function canSee(
  viewer: number,
  owner: Owner | undefined = NONEXISTENT_OWNER,
  askFriends: FriendsLookup,
): Promise<boolean> {
  if (isPublicOrOwn(viewer, owner)) return true;
  return (await askFriends({ person: viewer, others: [owner.id] })).has(owner.id);
}
