import type { RequestOutcome, SocialGraph } from './graph/index.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockShared } from './postgres/locks.js';
import { failpoint } from './support/failpoints.js';

interface Stores {
  graphTransactions: Database;
  graph: SocialGraph;
}

type Transition = 'accept' | 'decline' | 'cancel' | 'unfriend';

/** Whether `by` could take this step towards `other`: false when the two are not in the state that it starts from. */
export async function changeFriendship(
  { graphTransactions, graph }: Stores,
  transition: Transition,
  by: number,
  other: number,
): Promise<boolean> {
  return graphTransactions.transaction().execute(async (trx) => {
    const there = await lockPeople(trx, by, other);
    if (!there.has(by) || !there.has(other)) return false;
    const changed = await graph.within(trx)[transition](by, other);
    failpoint('friendship written');
    return changed;
  });
}

/** `recipientNotFound` when the person asked has no account, `accountDeleted` when the one who asks has none any more. */
export async function requestFriendship(
  { graphTransactions, graph }: Stores,
  from: number,
  to: number,
): Promise<RequestOutcome | 'recipientNotFound' | 'accountDeleted'> {
  return graphTransactions.transaction().execute(async (trx) => {
    const there = await lockPeople(trx, from, to);
    if (!there.has(from)) return 'accountDeleted';
    if (!there.has(to)) return 'recipientNotFound';
    const outcome = await graph.within(trx).request(from, to);
    failpoint('friendship written');
    return outcome;
  });
}

/** Who of these has an account, which stays as long as the transaction lasts. */
async function lockPeople(trx: DatabaseTransaction, ...ids: number[]): Promise<ReadonlySet<number>> {
  await lockShared(trx, { accounts: ids });
  const people = await trx.selectFrom('accounts').select('id').where('id', 'in', ids).execute();
  return new Set(people.map(({ id }) => id));
}
