/** Whose thing is looked at: a post's author, a picture's owner. `private` is null when the account's row is missing. */
export interface Owner {
  id: number;
  private: boolean | null;
}

/** Answers who among some people is a friend of one person. */
export type AskFriends = (question: { person: number; among: readonly number[] }) => Promise<ReadonlySet<number>>;

/** What is public is everybody's; what is private is its owner's and the owner's friends'. */
const needsFriendship = (viewer: number, owner: Owner) => owner.private === true && owner.id !== viewer;

/**
 * Whether the viewer may see what is this owner's. To be asked after the owner's row was read: asked before, a friendship
 * that has ended since would show what came after it.
 */
export async function canSee(viewer: number, owner: Owner, askFriends: AskFriends): Promise<boolean> {
  if (!needsFriendship(viewer, owner)) return true;
  const friends = await askFriends({ person: viewer, among: [owner.id] });
  return friends.has(owner.id);
}

/** What of `things` the viewer may see, in their order. To be asked, likewise, after their rows were read. */
export async function filterVisible<Thing>(
  viewer: number,
  things: readonly Thing[],
  ownerOf: (thing: Thing) => Owner,
  askFriends: AskFriends,
): Promise<Thing[]> {
  const closed = things.map(ownerOf).filter((owner) => needsFriendship(viewer, owner));
  if (closed.length === 0) return [...things];
  const friends = await askFriends({ person: viewer, among: [...new Set(closed.map(({ id }) => id))] });
  return things.filter((thing) => {
    const owner = ownerOf(thing);
    return !needsFriendship(viewer, owner) || friends.has(owner.id);
  });
}
