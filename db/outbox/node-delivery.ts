import { sql } from 'kysely';
import type { GraphWriteStores } from '../graph/index.js';
import { NOW, secondsFromNow } from '../postgres/clock.js';
import { lockExclusive } from '../postgres/locks.js';
import type { OutboxKind } from '../schema.js';
import { batched } from '../support/batch.js';
import { failpoint } from '../support/failpoints.js';
import { type Observer, observedBatches } from '../support/observer.js';
import { claimDueEntries } from './entries.js';

/*
 * Delivers outbox entries to the graph: creates the node of a person or post if its row exists, and removes the node if
 * not. See `index.ts` for the pattern.
 *
 * A node is created without locks. If the row is deleted at the same time, the node may be created after its removal. So the
 * entry is deleted only if the row still exists after the creation. Otherwise the entry removes the node.
 */

/**
 * `done`: delivered. `skipped`: already delivered, not due, or being delivered elsewhere. `notCreated`: the node is to be removed
 * if the row is missing. `failed`: the batch has failed.
 */
type DeliveryOutcome = 'done' | 'skipped' | 'notCreated' | 'failed';

const MAX_BATCH_SIZE = 50;

/**
 * Whether the row of an entry exists. A missing row never appears later: ids are not used again. With `exists`, PostgreSQL could
 * read all rows into a hash table.
 */
const ROW_EXISTS = sql<boolean>`case kind
  when 'person' then (select accounts.id from accounts where accounts.id = key::int8)
  when 'post' then (select posts.id from posts where posts.id = key::int8)
end is not null`;

/**
 * Creates a function that delivers the entry of a person or post to the graph. The function returns false if there was nothing
 * to do, or if the signal aborted before a node with many edges was removed.
 *
 * The creation of nodes is batched across concurrent requests. If a batch fails, each of its entries is delivered alone. Each
 * removal has transactions of its own: a node may have many edges, and other deliveries must not wait until they are removed. A
 * transaction removes a limited number of edges, and the entry remains until all are removed, so a removal that was interrupted
 * continues with the next delivery of the entry.
 */
export function createNodeDelivery(
  stores: GraphWriteStores,
  observer: Observer,
  signal: AbortSignal,
): (entryId: number) => Promise<boolean> {
  const createTogether = batched(
    async (ids: number[]): Promise<DeliveryOutcome[]> => {
      try {
        return await createNodes(stores, ids);
      } catch (error) {
        if (ids.length === 1) throw error;
        return ids.map(() => 'failed');
      }
    },
    { maxBatchSize: MAX_BATCH_SIZE, ...observedBatches(observer, 'deliverNode') },
  );
  return async (id) => {
    let outcome: DeliveryOutcome | undefined = await createTogether(id);
    if (outcome === 'failed') [outcome] = await createNodes(stores, [id]);
    if (outcome === 'notCreated') {
      do {
        outcome = await removeNode(stores, id);
      } while (outcome === 'notCreated' && !signal.aborted);
    }
    if (outcome === 'done') failpoint('delivery committed');
    return outcome === 'done';
  };
}

/** Creates the nodes of those entries whose rows exist. Returns one outcome for each id, in the order of the ids. */
async function createNodes(
  { graphTransactions, graph }: GraphWriteStores,
  ids: readonly number[],
): Promise<DeliveryOutcome[]> {
  const entries = await graphTransactions
    .selectFrom('outbox')
    .select(['id', 'kind', 'key', ROW_EXISTS.as('exists')])
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .where('due_at', '<=', NOW)
    .execute();
  const creations = entries.filter(({ exists }) => exists);
  const created = new Set<number>();
  if (creations.length > 0) {
    const idsOf = (kind: OutboxKind) => creations.filter((entry) => entry.kind === kind).map(({ key }) => Number(key));
    await graph.ensureNodes({ people: idsOf('person'), posts: idsOf('post') });
    failpoint('node written');
    const claimed = claimDueEntries(
      graphTransactions,
      creations.map(({ id }) => id),
    ).where(ROW_EXISTS);
    const deleted = await graphTransactions
      .deleteFrom('outbox')
      // Without the array, PostgreSQL could run the subquery again for each entry of the outbox.
      .where((eb) => eb('id', '=', eb.fn.any(sql<number[]>`array(${claimed.clearSelect().select('id')})`)))
      .returning('id')
      .execute();
    for (const { id } of deleted) created.add(id);
  }
  const found = new Set(entries.map(({ id }) => id));
  return ids.map((id) => {
    if (!found.has(id)) return 'skipped';
    return created.has(id) ? 'done' : 'notCreated';
  });
}

/**
 * Removes the node of an entry whose row is missing, with its edges, or only some of them if there are many: then returns
 * `notCreated`. An exclusive lock is held until the commit, so that no like or friendship is written meanwhile.
 *
 * After the removal, deletes the entry, or schedules its second delivery after `maxCommitDelayMs`: an abandoned write may still
 * commit after the removal and create the node again.
 */
async function removeNode({ graphTransactions, graph }: GraphWriteStores, entryId: number): Promise<DeliveryOutcome> {
  return graphTransactions.transaction().execute(async (trx) => {
    const claimed = claimDueEntries(trx, [entryId]).where(sql<boolean>`not (${ROW_EXISTS})`);
    const entry = await claimed.executeTakeFirst();
    if (!entry) return 'skipped';
    const { id, kind, delivered: isSecondDelivery } = entry;
    const key = Number(entry.key);
    await lockExclusive(trx, kind === 'person' ? { accounts: [key] } : { posts: [key] });
    const { removePerson, removePost } = graph.within(trx);
    const isRemoved = await (kind === 'person' ? removePerson(key) : removePost(key));
    failpoint('node written');
    if (!isRemoved) return 'notCreated';
    if (isSecondDelivery || graph.maxCommitDelayMs === 0) await trx.deleteFrom('outbox').where('id', '=', id).execute();
    else {
      const secondDelivery = { delivered: true, due_at: secondsFromNow(graph.maxCommitDelayMs / 1000) };
      await trx.updateTable('outbox').set(secondDelivery).where('id', '=', id).execute();
    }
    return 'done';
  });
}
