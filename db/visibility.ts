import type { Pair, SocialGraph } from './graph/index.js';

/** Whose thing is looked at: a post's author, a profile's owner, an image's. `private` is null when the row is missing. */
export interface Owner {
  id: number;
  private: boolean | null;
}

/** The one rule: what is public is everybody's; what is private is its owner's and the owner's friends'. */
function isPlain(viewer: number, owner: Owner): boolean {
  return !owner.private || owner.id === viewer;
}

/** Answers whether two people are friends. */
export type AskFriends = (pair: Pair) => Promise<boolean>;

/** Has to be asked after the owner's row was read: friendship that ended before it must not show what came after. */
export async function canSee(viewer: number, owner: Owner, areFriends: AskFriends): Promise<boolean> {
  return isPlain(viewer, owner) || areFriends([viewer, owner.id]);
}

/** What of `things` the viewer may see, in their order. The graph is asked once for each private owner. */
export async function filterVisible<Thing>(
  viewer: number,
  things: readonly Thing[],
  ownerOf: (thing: Thing) => Owner,
  areFriends: AskFriends,
): Promise<Thing[]> {
  const closed = new Set(
    things
      .map(ownerOf)
      .filter((owner) => !isPlain(viewer, owner))
      .map(({ id }) => id),
  );
  const answers = await Promise.all([...closed].map(async (id) => [id, await areFriends([viewer, id])] as const));
  const friends = new Map(answers);
  return things.filter((thing) => isPlain(viewer, ownerOf(thing)) || friends.get(ownerOf(thing).id));
}

/** The same for questions that must be answered within one transaction. */
export async function seeAll(
  questions: readonly { viewer: number; owner: Owner }[],
  graph: SocialGraph,
): Promise<boolean[]> {
  const closed = questions.filter(({ viewer, owner }) => !isPlain(viewer, owner));
  const friends =
    closed.length > 0 ? await graph.areFriends(closed.map(({ viewer, owner }) => [viewer, owner.id])) : [];
  const answers = new Map(closed.map((question, index) => [question, friends[index] === true]));
  return questions.map((question) => answers.get(question) ?? true);
}
