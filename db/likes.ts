import { findAccounts } from './accounts.js';
import type { GraphWriteStores, Like, SocialGraph } from './graph/index.js';
import type { DatabaseTransaction } from './postgres/index.js';
import { lockShared } from './postgres/locks.js';
import { findPostOwners } from './posts.js';
import { friendsLookup, type RelationsQuery, readRelations } from './relations.js';
import { batched } from './support/batch.js';
import { failpoint } from './support/failpoints.js';
import { canSee, NONEXISTENT_OWNER, type Owner } from './visibility.js';

/** A like to add (`liked` is true) or to remove. */
export interface LikeChange {
  user: number;
  post: number;
  liked: boolean;
}

/** `notVisible`: the post does not exist, or the user may not see it. `accountDeleted`: the user's account is deleted. */
export type LikeOutcome = 'done' | 'notVisible' | 'accountDeleted';

/**
 * Adds and removes likes. Returns one outcome for each change, in the order of the changes.
 *
 * The graph is written while a PostgreSQL transaction holds shared locks, which prevent the deletion of the posts, of their
 * authors and of the users who like them. So no like outlives its post or its user. The graph in tables is part of the
 * transaction, but Neo4j commits each write by itself.
 */
export async function setLikes(
  { graphTransactions, graph }: GraphWriteStores,
  changes: readonly LikeChange[],
): Promise<LikeOutcome[]> {
  return graphTransactions.transaction().execute(async (trx) => {
    const owners = await findPostOwners(trx, postsOf(changes));
    // A missing post has a nonexistent author, so that its 404 takes as long as that of a hidden post.
    const authors = postsOf(changes).map((post) => (owners.get(post) ?? NONEXISTENT_OWNER).id);
    // Missing posts are not locked: the delivery that removes a deleted post from the graph holds its lock, and the whole batch
    // would wait for it.
    await lockShared(trx, {
      accounts: [...changes.map(({ user }) => user), ...authors],
      posts: [...owners.keys()],
    });
    const graphInTransaction = graph.within(trx);
    const outcomes = await checkVisibility(trx, graphInTransaction, changes, owners);
    const allowed = changes.filter((_, index) => outcomes[index] === 'done');
    // The changes of a batch are concurrent, so they may be applied in any order.
    const likes = edgesOf(allowed.filter((change) => change.liked));
    const unlikes = edgesOf(allowed.filter((change) => !change.liked));
    if (likes.length > 0) await graphInTransaction.like(likes);
    if (unlikes.length > 0) await graphInTransaction.unlike(unlikes);
    failpoint('likes written');
    return outcomes;
  });
}

/** Returns the edges in the graph, where the node of a user is a person. */
const edgesOf = (changes: readonly LikeChange[]): Like[] => changes.map(({ user, post }) => ({ person: user, post }));

const postsOf = (changes: readonly LikeChange[]) => changes.map(({ post }) => post);

/** Returns the outcome of each change: `done` if it is allowed. A post that is not locked counts as missing. */
async function checkVisibility(
  trx: DatabaseTransaction,
  graph: SocialGraph,
  changes: readonly LikeChange[],
  lockedPosts: ReadonlyMap<number, Owner>,
): Promise<LikeOutcome[]> {
  const users = await findAccounts(
    trx,
    changes.map(({ user }) => user),
  );
  const owners = await findPostOwners(trx, postsOf(changes));
  const findFriends = friendsLookup(batched((queries: RelationsQuery[]) => readRelations(graph, queries)));
  return Promise.all(
    changes.map(async (change, index) => {
      if (!users[index]) return 'accountDeleted';
      const owner = lockedPosts.has(change.post) ? owners.get(change.post) : undefined;
      return (await canSee(change.user, owner, findFriends)) ? 'done' : 'notVisible';
    }),
  );
}
