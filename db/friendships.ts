import { sql } from 'kysely';
import type { GraphWriteStores, RequestOutcome, SocialGraph } from './graph/index.js';
import { sharedLocks } from './postgres/locks.js';
import { failpoint } from './support/failpoints.js';
import { IS_ENABLED } from './visibility.js';

/** A change to a friendship or friend request, named after the method of `SocialGraph` that makes it. */
export type FriendshipChange = 'accept' | 'decline' | 'cancel' | 'unfriend';

/**
 * Applies a change that a user has requested. Returns `accountDeleted` if the user's account does not exist, and `notFound` if
 * the other account, the friendship or the friend request does not.
 */
export async function changeFriendship(
  stores: GraphWriteStores,
  change: FriendshipChange,
  userId: number,
  otherId: number,
): Promise<'changed' | 'notFound' | 'accountDeleted'> {
  return ifAccountsExist(stores, userId, otherId, async (graph) =>
    (await graph[change](userId, otherId)) ? 'changed' : 'notFound',
  );
}

/** Sends a friend request. Returns `accountDeleted` if the sender does not exist, and `notFound` if the recipient does not. */
export async function requestFriendship(
  stores: GraphWriteStores,
  from: number,
  to: number,
): Promise<RequestOutcome | 'notFound' | 'accountDeleted'> {
  return ifAccountsExist(stores, from, to, (graph) => graph.request(from, to));
}

/** Calls `write` if both accounts exist. Prevents their deletion until the transaction ends. */
async function ifAccountsExist<Outcome>(
  { graphTransactions, graph }: GraphWriteStores,
  userId: number,
  otherId: number,
  write: (graph: SocialGraph) => Promise<Outcome>,
): Promise<Outcome | 'notFound' | 'accountDeleted'> {
  const ids = [userId, otherId];
  return graphTransactions.transaction().execute(async (trx) => {
    // The snapshot of the statement is older than the locks, so it also locks the rows: see `insertPost`.
    const accounts = await trx
      .with('locks', () => sql<object>`(${sharedLocks({ accounts: ids })})`)
      .selectFrom(['locks', 'accounts'])
      .select('id')
      .where('id', 'in', ids)
      .where(IS_ENABLED)
      .forKeyShare('accounts')
      .execute();
    const exists = (id: number) => accounts.some((account) => account.id === id);
    if (!exists(userId)) return 'accountDeleted';
    if (!exists(otherId)) return 'notFound';
    const outcome = await write(graph.within(trx));
    failpoint('friendship written');
    return outcome;
  });
}
