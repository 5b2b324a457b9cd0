import { findAccounts } from './accounts.js';
import type { SocialGraph } from './graph/index.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockShared } from './postgres/locks.js';
import { findPostOwners } from './posts.js';
import { friendsLookup, type RelationsQuery, readRelations } from './relations.js';
import { batched } from './support/batch.js';
import { failpoint } from './support/failpoints.js';
import { canSee, NONEXISTENT_OWNER } from './visibility.js';

/** A like to add (`liked` is true) or to remove. */
export interface LikeChange {
  person: number;
  post: number;
  liked: boolean;
}

interface Stores {
  graphTransactions: Database;
  graph: SocialGraph;
}

/**
 * `notVisible`: the post does not exist, or the person may not see it. `accountDeleted`: the person's account no longer exists.
 */
export type LikeOutcome = 'done' | 'notVisible' | 'accountDeleted';

/**
 * Adds and removes likes in one PostgreSQL transaction. Returns one outcome for each change, in the order of the changes.
 *
 * Shared locks prevent the deletion of the posts, their authors and the people until the graph is written. So no like remains
 * after its post or its person has been deleted.
 */
export async function setLikes(
  { graphTransactions, graph }: Stores,
  changes: readonly LikeChange[],
): Promise<LikeOutcome[]> {
  return graphTransactions.transaction().execute(async (trx) => {
    const owners = await findPostOwners(trx, postsOf(changes));
    // For a post that does not exist, the id of an author who does not exist is locked, so that its 404 takes as long as that
    // of a hidden post.
    const authors = postsOf(changes).map((post) => (owners.get(post) ?? NONEXISTENT_OWNER).id);
    // A post that does not exist is not locked: the batch would wait while the post's likes are removed.
    await lockShared(trx, {
      accounts: [...changes.map(({ person }) => person), ...authors],
      posts: [...owners.keys()],
    });
    const graphInTransaction = graph.within(trx);
    const outcomes = await checkVisibility(trx, graphInTransaction, changes, owners);
    const allowed = changes.filter((_, index) => outcomes[index] === 'done');
    // The changes of a batch are concurrent, so they may be applied in any order.
    const likes = allowed.filter((change) => change.liked);
    const unlikes = allowed.filter((change) => !change.liked);
    if (likes.length > 0) await graphInTransaction.like(likes);
    if (unlikes.length > 0) await graphInTransaction.unlike(unlikes);
    failpoint('likes written');
    return outcomes;
  });
}

const postsOf = (changes: readonly LikeChange[]) => changes.map(({ post }) => post);

/** Returns the outcome of each change: `done` if it is allowed. A post that is not locked counts as missing. */
async function checkVisibility(
  trx: DatabaseTransaction,
  graph: SocialGraph,
  changes: readonly LikeChange[],
  lockedPosts: Pick<ReadonlyMap<number, unknown>, 'has'>,
): Promise<LikeOutcome[]> {
  const people = await findAccounts(
    trx,
    changes.map(({ person }) => person),
  );
  const owners = await findPostOwners(trx, postsOf(changes));
  const findFriends = friendsLookup(batched((queries: RelationsQuery[]) => readRelations(graph, queries)));
  return Promise.all(
    changes.map(async (change, index) => {
      if (!people[index]) return 'accountDeleted';
      const owner = lockedPosts.has(change.post) ? owners.get(change.post) : undefined;
      return (await canSee(change.person, owner, findFriends)) ? 'done' : 'notVisible';
    }),
  );
}
