import type { RequestOutcome, SocialGraph } from './graph/index.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockShared } from './postgres/locks.js';
import { failpoint } from './support/failpoints.js';

interface Stores {
  graphTransactions: Database;
  graph: SocialGraph;
}

/** A change of a friendship or friend request, named like the method of `SocialGraph` that makes it. */
type Transition = 'accept' | 'decline' | 'cancel' | 'unfriend';

/**
 * Applies a transition that user `by` has requested. Returns `notFound` if there is no such friendship or friend request or the
 * other account does not exist, and `accountDeleted` if the account of `by` no longer exists.
 */
export async function changeFriendship(
  { graphTransactions, graph }: Stores,
  transition: Transition,
  by: number,
  other: number,
): Promise<'changed' | 'notFound' | 'accountDeleted'> {
  return graphTransactions.transaction().execute(async (trx) => {
    const existing = await lockAccounts(trx, by, other);
    if (!existing.has(by)) return 'accountDeleted';
    if (!existing.has(other)) return 'notFound';
    const changed = await graph.within(trx)[transition](by, other);
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
