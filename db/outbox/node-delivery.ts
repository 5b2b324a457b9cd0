import { sql } from 'kysely';
import type { Nodes, SocialGraph } from '../graph/index.js';
import { after } from '../postgres/clock.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import { lockExclusive } from '../postgres/locks.js';
import { batched } from '../support/batch.js';
import { failpoint } from '../support/failpoints.js';
import { claimDueEntries } from './claim-due-entries.js';

interface Stores {
  graphTransactions: Database;
  graph: SocialGraph;
}

type Entry = Awaited<ReturnType<typeof claimDueEntries>>[number];

/** `skipped`: already delivered, not due, or being delivered elsewhere. `retryAlone`: not delivered in this batch. */
type Outcome = 'delivered' | 'skipped' | 'retryAlone';

/** Small, since logins of these people and likes of these posts wait for the locks of the whole batch. */
const MAX_BATCH_SIZE = 50;

/**
 * Creates the delivery of people and posts to the graph. It returns false if there was nothing to do.
 *
 * New nodes are batched across concurrent requests. A removed node may have many edges, so it is removed alone, and no other
 * delivery waits for it. If a batch fails, each of its entries is delivered alone.
 */
export function createNodeDelivery(stores: Stores): (entry: number) => Promise<boolean> {
  const deliverTogether = batched(
    async (ids: number[]): Promise<Outcome[]> => {
      try {
        return await deliverBatch(stores, ids, { removing: false });
      } catch (error) {
        if (ids.length === 1) throw error;
        return ids.map(() => 'retryAlone');
      }
    },
    { maxBatchSize: MAX_BATCH_SIZE },
  );
  return async (id) => {
    const outcome = await deliverTogether(id);
    const [final] = outcome === 'retryAlone' ? await deliverBatch(stores, [id], { removing: true }) : [outcome];
    return final === 'delivered';
  };
}

/** Holds exclusive locks from reading the rows until the commit: deliveries of the same entity must not overlap. */
async function deliverBatch(
  { graphTransactions, graph }: Stores,
  ids: readonly number[],
  { removing }: { removing: boolean },
): Promise<Outcome[]> {
  const outcomes = await graphTransactions.transaction().execute(async (trx) => {
    const entries = await claimDueEntries(trx, ids);
    const keys = (kind: string) => entries.filter((entry) => entry.kind === kind).map(({ key }) => Number(key));
    const [people, posts] = [keys('person'), keys('post')];
    await lockExclusive(trx, { accounts: people, posts });
    const existing = {
      people: await existingIds(trx, 'accounts', people),
      posts: await existingIds(trx, 'posts', posts),
    };
    const exists = ({ kind, key }: Entry) =>
      (kind === 'person' ? existing.people : existing.posts).includes(Number(key));
    const lockedGraph = graph.within(trx);
    const present = entries.filter(exists);
    if (present.length > 0) await createNodes(trx, lockedGraph, existing, present);
    if (removing)
      for (const entry of entries.filter((entry) => !exists(entry))) await removeNode(trx, lockedGraph, entry);
    const outcome = (entry: Entry): Outcome => (removing || exists(entry) ? 'delivered' : 'retryAlone');
    return new Map(entries.map((entry) => [entry.id, outcome(entry)]));
  });
  if ([...outcomes.values()].includes('delivered')) failpoint('delivery committed');
  return ids.map((id) => outcomes.get(id) ?? 'skipped');
}

async function createNodes(
  trx: DatabaseTransaction,
  graph: SocialGraph,
  nodes: Nodes,
  entries: Entry[],
): Promise<void> {
  await graph.ensureNodes(nodes);
  failpoint('node written');
  const ids = entries.map(({ id }) => id);
  await trx.deleteFrom('outbox').where(sql<boolean>`id = any(${ids}::int8[])`).execute();
}

/**
 * Removes a node. An abandoned write may still commit after the removal and create the node again, so the entry is kept and
 * delivered a second time after `maxCommitDelayMs`.
 */
async function removeNode(
  trx: DatabaseTransaction,
  graph: SocialGraph,
  { id, kind, key, delivered }: Entry,
): Promise<void> {
  await (kind === 'person' ? graph.removePerson(Number(key)) : graph.removePost(Number(key)));
  failpoint('node written');
  if (delivered || graph.maxCommitDelayMs === 0) await trx.deleteFrom('outbox').where('id', '=', id).execute();
  else {
    const secondDelivery = { delivered: true, due_at: after(graph.maxCommitDelayMs / 1000) };
    await trx.updateTable('outbox').set(secondDelivery).where('id', '=', id).execute();
  }
}

async function existingIds(trx: DatabaseTransaction, table: 'accounts' | 'posts', ids: number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const query = trx.selectFrom(table).select('id').where(sql<boolean>`id = any(${ids}::int8[])`);
  const rows = await query.orderBy('id').execute();
  return rows.map(({ id }) => id);
}
