/** Whose thing is looked at: a post's author, a picture's owner. `private` is null when the account's row is missing. */
export interface Owner {
  id: number;
  private: boolean | null;
}

/** Answers who among some people is a friend of one person. */
export type AskFriends = (question: { person: number; among: readonly number[] }) => Promise<ReadonlySet<number>>;

/** What is public is everybody's; what is private is its owner's and the owner's friends'. */
export const isOpenTo = (viewer: number, owner: Owner) => owner.private !== true || owner.id === viewer;

/**
 * Whether the viewer may see what is this owner's. To be asked after the owner's row was read: asked before, a friendship
 * that has ended since would show what came after it.
 */
export async function canSee(viewer: number, owner: Owner, askFriends: AskFriends): Promise<boolean> {
  const sees = await sightOf(viewer, [owner], askFriends);
  return sees(owner);
}

/** The same for many owners: tells it of each of them. */
export async function sightOf(
  viewer: number,
  owners: readonly Owner[],
  askFriends: AskFriends,
): Promise<(owner: Owner) => boolean> {
  const closed = new Set(owners.filter((owner) => !isOpenTo(viewer, owner)).map(({ id }) => id));
  if (closed.size === 0) return () => true;
  const friends = await askFriends({ person: viewer, among: [...closed] });
  return (owner) => isOpenTo(viewer, owner) || friends.has(owner.id);
}
