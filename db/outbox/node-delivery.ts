import { type Selectable, sql } from 'kysely';
import type { GraphWriteStores, Nodes, SocialGraph } from '../graph/index.js';
import { secondsFromNow } from '../postgres/clock.js';
import type { DatabaseTransaction } from '../postgres/index.js';
import { exclusiveLocksOf } from '../postgres/locks.js';
import type { OutboxTable } from '../schema.js';
import { batched } from '../support/batch.js';
import { failpoint } from '../support/failpoints.js';
import { type Observer, observedBatches } from '../support/observer.js';
import { claimDueEntries } from './entries.js';

/*
 * Delivers outbox entries to the graph: creates the node of a person or post if its row exists, and removes the node if
 * not. See `index.ts` for the pattern.
 */

type Entry = Pick<Selectable<OutboxTable>, 'id' | 'kind' | 'key' | 'delivered'>;

/**
 * `done`: delivered. `skipped`: already delivered, not due, or being delivered elsewhere. `continueAlone`: not delivered, or
 * only in part; to be continued in separate transactions.
 */
type DeliveryOutcome = 'done' | 'skipped' | 'continueAlone';

/** The maximum number of entries in a batch. Logins of its people and likes of its posts wait until it commits. */
const MAX_BATCH_SIZE = 50;

/**
 * Creates a function that delivers the entry of a person or post to the graph. The function returns false if there was nothing
 * to do, or if the signal aborted before a node with many edges was removed.
 *
 * The creation of nodes is batched across concurrent requests. Each removal has transactions of its own: a node may have many
 * edges, and other deliveries must not wait until they are removed. A transaction removes a limited number of edges, and the
 * entry remains until all are removed, so a removal that was interrupted continues with the next delivery of the entry. If a
 * batch fails, each of its entries is delivered alone.
 */
export function createNodeDelivery(
  stores: GraphWriteStores,
  observer: Observer,
  signal: AbortSignal,
): (entryId: number) => Promise<boolean> {
  const deliverTogether = batched(
    async (ids: number[]): Promise<DeliveryOutcome[]> => {
      try {
        return await deliverBatch(stores, ids, { allowRemovals: false });
      } catch (error) {
        if (ids.length === 1) throw error;
        return ids.map(() => 'continueAlone');
      }
    },
    { maxBatchSize: MAX_BATCH_SIZE, ...observedBatches(observer, 'deliverNode') },
  );
  return async (id) => {
    let outcome: DeliveryOutcome | undefined = await deliverTogether(id);
    if (outcome === 'continueAlone') {
      do {
        [outcome] = await deliverBatch(stores, [id], { allowRemovals: true });
      } while (outcome === 'continueAlone' && !signal.aborted);
    }
    return outcome === 'done';
  };
}

/**
 * Delivers entries in one transaction. Returns one outcome for each id, in the order of the ids. Exclusive locks are held from
 * before the rows are read until the commit, so that deliveries of the same entity do not overlap.
 */
async function deliverBatch(
  { graphTransactions, graph }: GraphWriteStores,
  ids: readonly number[],
  { allowRemovals }: { allowRemovals: boolean },
): Promise<DeliveryOutcome[]> {
  const outcomes = await graphTransactions.transaction().execute(async (trx) => {
    const entries = await claimAndLock(trx, ids);
    const idsOf = (kind: Entry['kind']) => entries.filter((entry) => entry.kind === kind).map(({ key }) => Number(key));
    const existing = {
      people: await findExistingIds(trx, 'accounts', idsOf('person')),
      posts: await findExistingIds(trx, 'posts', idsOf('post')),
    };
    const exists = ({ kind, key }: Entry) =>
      (kind === 'person' ? existing.people : existing.posts).includes(Number(key));
    const graphInTransaction = graph.within(trx);
    const creations = entries.filter(exists);
    const removals = entries.filter((entry) => !exists(entry));
    if (creations.length > 0) await deliverCreations(trx, graphInTransaction, existing, creations);
    const outcomes = new Map<number, DeliveryOutcome>(creations.map(({ id }) => [id, 'done']));
    for (const entry of removals) {
      const isDone = allowRemovals && (await deliverRemoval(trx, graphInTransaction, entry));
      outcomes.set(entry.id, isDone ? 'done' : 'continueAlone');
    }
    return outcomes;
  });
  if ([...outcomes.values()].includes('done')) failpoint('delivery committed');
  return ids.map((id) => outcomes.get(id) ?? 'skipped');
}

/** Creates the nodes that do not exist, then deletes the entries. */
async function deliverCreations(
  trx: DatabaseTransaction,
  graph: SocialGraph,
  nodes: Nodes,
  entries: Entry[],
): Promise<void> {
  await graph.ensureNodes(nodes);
  failpoint('node written');
  const ids = entries.map(({ id }) => id);
  await trx
    .deleteFrom('outbox')
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .execute();
}

/**
 * Removes a node. If it has many edges, removes only some of them and returns false. After the removal of the node, deletes the
 * entry, or schedules its second delivery after `maxCommitDelayMs`: an abandoned write may still commit after the removal and
 * create the node again.
 */
async function deliverRemoval(
  trx: DatabaseTransaction,
  graph: SocialGraph,
  { id, kind, key, delivered: isSecondDelivery }: Entry,
): Promise<boolean> {
  const isRemoved = await (kind === 'person' ? graph.removePerson(Number(key)) : graph.removePost(Number(key)));
  failpoint('node written');
  if (!isRemoved) return false;
  if (isSecondDelivery || graph.maxCommitDelayMs === 0) await trx.deleteFrom('outbox').where('id', '=', id).execute();
  else {
    const secondDelivery = { delivered: true, due_at: secondsFromNow(graph.maxCommitDelayMs / 1000) };
    await trx.updateTable('outbox').set(secondDelivery).where('id', '=', id).execute();
  }
  return true;
}

/** Returns those of the ids whose rows exist, in ascending order. */
async function findExistingIds(
  trx: DatabaseTransaction,
  table: 'accounts' | 'posts',
  ids: number[],
): Promise<number[]> {
  if (ids.length === 0) return [];
  const query = trx
    .selectFrom(table)
    .select('id')
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))));
  const rows = await query.orderBy('id').execute();
  return rows.map(({ id }) => id);
}

/**
 * Claims due entries as `claimDueEntries` does, and takes exclusive locks on their accounts and posts. The unused count makes
 * PostgreSQL take all locks.
 */
async function claimAndLock(trx: DatabaseTransaction, ids: readonly number[]): Promise<Entry[]> {
  const { rows } = await sql<Entry>`
    with claimed as materialized (${claimDueEntries(trx, ids)}),
    locked as materialized (${exclusiveLocksOf(sql`select kind = 'post' as is_post, key::int8 as id from claimed`)})
    select claimed.* from claimed, (select count(*) from locked) as lock_count`.execute(trx);
  return rows;
}
