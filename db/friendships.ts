import type { RequestOutcome, SocialGraph } from './graph/index.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockShared } from './postgres/locks.js';
import { failpoint } from './support/failpoints.js';

interface Stores {
  graphTransactions: Database;
  graph: SocialGraph;
}

/** A change to a friendship or friend request, named after the method of `SocialGraph` that makes it. */
type FriendshipChange = 'accept' | 'decline' | 'cancel' | 'unfriend';

/**
 * Applies a change that a user has requested. Returns `accountDeleted` if the user's account no longer exists, and `notFound` if
 * the other account, the friendship or the friend request does not exist.
 */
export async function changeFriendship(
  { graphTransactions, graph }: Stores,
  change: FriendshipChange,
  userId: number,
  otherId: number,
): Promise<'changed' | 'notFound' | 'accountDeleted'> {
  return graphTransactions.transaction().execute(async (trx) => {
    const existing = await lockAccounts(trx, userId, otherId);
    if (!existing.has(userId)) return 'accountDeleted';
    if (!existing.has(otherId)) return 'notFound';
    const changed = await graph.within(trx)[change](userId, otherId);
    failpoint('friendship written');
    return changed ? 'changed' : 'notFound';
  });
}

/** Sends a friend request. Returns `accountDeleted` if the sender's account no longer exists. */
export async function requestFriendship(
  { graphTransactions, graph }: Stores,
  from: number,
  to: number,
): Promise<RequestOutcome | 'recipientNotFound' | 'accountDeleted'> {
  return graphTransactions.transaction().execute(async (trx) => {
    const existing = await lockAccounts(trx, from, to);
    if (!existing.has(from)) return 'accountDeleted';
    if (!existing.has(to)) return 'recipientNotFound';
    const outcome = await graph.within(trx).request(from, to);
    failpoint('friendship written');
    return outcome;
  });
}

/** Prevents the deletion of accounts until the transaction ends. Returns the ids of the accounts that exist. */
async function lockAccounts(trx: DatabaseTransaction, ...ids: number[]): Promise<ReadonlySet<number>> {
  await lockShared(trx, { accounts: ids });
  const accounts = await trx.selectFrom('accounts').select('id').where('id', 'in', ids).execute();
  return new Set(accounts.map(({ id }) => id));
}
