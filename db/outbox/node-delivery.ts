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

/** `skipped`: it is gone, is not due, or is under way elsewhere. `retryAlone`: to be delivered by itself. */
type Outcome = 'delivered' | 'skipped' | 'retryAlone';

/** How many go together: for as long as their transaction lasts, nobody can log in or like a post of theirs. */
const MAX_BATCH_SIZE = 50;

/**
 * Delivers entries about people and posts to the graph. False when there was nothing to do. What has come to be goes
 * together across the requests in flight; what is gone, and may have many ties, goes alone, so that nobody waits for it, and
 * so does each where something stood in the way of all.
 */
export function createNodeDelivery(stores: Stores): (entry: number) => Promise<boolean> {
  const keepTogether = batched(
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
    const outcome = await keepTogether(id);
    const [last] = outcome === 'retryAlone' ? await deliverBatch(stores, [id], { removing: true }) : [outcome];
    return last === 'delivered';
  };
}

/** Holds the locks from the look to the mark: two deliveries of one thing must not cross. */
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
    const there = {
      people: await idsThere(trx, 'accounts', people),
      posts: await idsThere(trx, 'posts', posts),
    };
    const isThere = ({ kind, key }: Entry) => (kind === 'person' ? there.people : there.posts).includes(Number(key));
    const nodes = graph.within(trx);
    const kept = entries.filter(isThere);
    if (kept.length > 0) await keep(trx, nodes, there, kept);
    if (removing) for (const entry of entries.filter((entry) => !isThere(entry))) await removeNode(trx, nodes, entry);
    const outcome = (entry: Entry): Outcome => (removing || isThere(entry) ? 'delivered' : 'retryAlone');
    return new Map(entries.map((entry) => [entry.id, outcome(entry)]));
  });
  if ([...outcomes.values()].includes('delivered')) failpoint('delivery marked');
  return ids.map((id) => outcomes.get(id) ?? 'skipped');
}

async function keep(trx: DatabaseTransaction, graph: SocialGraph, nodes: Nodes, entries: Entry[]): Promise<void> {
  await graph.ensureNodes(nodes);
  failpoint('node written');
  const ids = entries.map(({ id }) => id);
  await trx.deleteFrom('outbox').where(sql<boolean>`id = any(${ids}::int8[])`).execute();
}

/**
 * What is gone is removed twice where a write that was given up may still come after the first time: the second time is when
 * it is due, however old the list from which somebody takes it.
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
    const again = { delivered: true, due_at: after(graph.maxCommitDelayMs / 1000) };
    await trx.updateTable('outbox').set(again).where('id', '=', id).execute();
  }
}

async function idsThere(trx: DatabaseTransaction, table: 'accounts' | 'posts', ids: number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const found = trx.selectFrom(table).select('id').where(sql<boolean>`id = any(${ids}::int8[])`);
  const rows = await found.orderBy('id').execute();
  return rows.map(({ id }) => id);
}
