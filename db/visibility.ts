import { type RawBuilder, type SqlBool, sql } from 'kysely';

/*
 * Who may see what a user owns: posts with their images, the profile picture, the full profile.
 *
 *   The owner's account is public    every user
 *   The owner's account is private   the owner and the owner's friends
 *
 * The rule is written twice, as a predicate over a row that was read and as a condition in SQL, and only here. Friends are
 * in the graph, so neither knows them: the predicate asks for them last, and a query is given their ids. A friendship is
 * read after the owner's row. The other way round, a post made after the friendship ended could be shown.
 */

/** The owner of a post or a picture. `private` is null if the account's row is missing; that hides nothing. */
export interface Owner {
  id: number;
  private: boolean | null;
}

/** The owner of what does not exist. Its friends are looked up too, or the time of a 404 would tell a hidden post from none. */
const NONEXISTENT_OWNER: Owner = { id: 0, private: true };

/** Returns those of `others` who are friends of `person`. */
export type FriendsLookup = (question: { person: number; others: readonly number[] }) => Promise<ReadonlySet<number>>;

const isPublic = (owner: Owner) => owner.private !== true;

/** The same in SQL, where the query names the owner's column `private`. */
export const PUBLIC = sql<SqlBool>`private is not true`;

/** Whether the viewer may see what this owner has, whoever their friends are. */
export const isPublicOrOwn = (viewer: number, owner: Owner) => isPublic(owner) || owner.id === viewer;

/** The same in SQL, with the condition that the owner is the viewer or, in lists, one of the viewer's friends. */
export const publicOr = (isOwnerAllowed: RawBuilder<SqlBool>) => sql<SqlBool>`(${PUBLIC} or ${isOwnerAllowed})`;

/** Whether the viewer may see what this owner has; `owner` is undefined if it does not exist. */
export async function canSee(
  viewer: number,
  owner: Owner | undefined = NONEXISTENT_OWNER,
  findFriends: FriendsLookup,
): Promise<boolean> {
  if (isPublicOrOwn(viewer, owner)) return true;
  return (await findFriends({ person: viewer, others: [owner.id] })).has(owner.id);
}
