import { sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import { paginate, type ReadPage, readIds } from '../support/pages.js';
import type { CheckContext, RuleName } from './rules.js';

/** Describes how a kind of entity is represented in the graph and in PostgreSQL. */
interface EntityMapping {
  kind: 'person' | 'post';
  table: 'accounts' | 'posts';
  nodeHasRow: RuleName;
  rowHasNode: RuleName;
}

export const PEOPLE: EntityMapping = {
  kind: 'person',
  table: 'accounts',
  nodeHasRow: 'personHasAccount',
  rowHasNode: 'accountHasPerson',
};

export const POSTS: EntityMapping = {
  kind: 'post',
  table: 'posts',
  nodeHasRow: 'postNodeHasPost',
  rowHasNode: 'postHasNode',
};

type Ids = readonly number[];

/**
 * Finds nodes without a row. A row is deleted in the transaction that adds an outbox entry for its node, and the entry is
 * deleted after the node. So a node that exists before and after a read that finds neither row nor entry is an orphan. Ids
 * are never reused.
 */
export async function checkNodes(context: CheckContext, mapping: EntityMapping): Promise<void> {
  const { stores, pageSize, track } = context;
  const read = stores.graph.bulk[`${mapping.kind}Ids`];
  for await (const nodes of track(paginate(read, pageSize))) {
    const suspects = await filterWithoutRowOrEntry(stores.maintenanceDb, mapping, nodes);
    const existing = await filterExisting(read, suspects, pageSize);
    const orphans = suspects.filter((id) => existing.has(id));
    await report(context, mapping, mapping.nodeHasRow, orphans);
  }
}

/**
 * Finds rows without a node. A row is inserted together with an outbox entry for its node, and the entry is deleted after
 * the node exists. So a row without an entry has a node until the row is deleted. A row is reported if it has no entry both
 * before and after a read that does not find the node.
 */
export async function checkRows(context: CheckContext, mapping: EntityMapping): Promise<void> {
  const { stores, pageSize, track } = context;
  const read = stores.graph.bulk[`${mapping.kind}Ids`];
  const findMissing = async (ids: Ids) => {
    const existing = await filterExisting(read, ids, pageSize);
    const withoutNode = ids.filter((id) => !existing.has(id));
    return filterWithRowButNoEntry(stores.maintenanceDb, mapping, withoutNode);
  };
  for await (const rows of track(paginate(readIds(stores.maintenanceDb, mapping.table), pageSize))) {
    await report(context, mapping, mapping.rowHasNode, await findMissing(await findMissing(rows)));
  }
}

async function report(
  { findings, repair }: CheckContext,
  { kind }: EntityMapping,
  rule: RuleName,
  ids: Ids,
): Promise<void> {
  if (ids.length === 0) return;
  const repaired = await repair?.reconcile(ids.map((key) => ({ kind, key })));
  const violations = ids.map((id) => `${kind} ${id}`);
  findings.add(rule, violations, repaired);
}

/** Returns the ids that have a node. `ids` must be in ascending order. */
async function filterExisting(read: ReadPage<number>, ids: Ids, pageSize: number): Promise<ReadonlySet<number>> {
  const wanted = new Set(ids);
  const existing = new Set<number>();
  const last = ids.at(-1);
  if (ids[0] === undefined || last === undefined) return existing;
  for (let after = ids[0] - 1; after < last; ) {
    const page = await read(after, pageSize);
    for (const id of page) if (wanted.has(id)) existing.add(id);
    after = page.length < pageSize ? last : (page.at(-1) ?? last);
  }
  return existing;
}

/** Returns the ids that have neither a row nor an outbox entry, in ascending order and as of one snapshot. */
const filterWithoutRowOrEntry = (db: Database, mapping: EntityMapping, ids: Ids) =>
  selectIds(db, mapping, ids, sql`not exists`);

/** Returns the ids that have a row but no outbox entry, in ascending order and as of one snapshot. */
const filterWithRowButNoEntry = (db: Database, mapping: EntityMapping, ids: Ids) =>
  selectIds(db, mapping, ids, sql`exists`);

async function selectIds(
  db: Database,
  { kind, table }: EntityMapping,
  ids: Ids,
  existsOrNot: ReturnType<typeof sql>,
): Promise<number[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: number }>`
    select node.id from unnest(${ids}::int8[]) as node (id)
    where ${existsOrNot} (select from ${sql.table(table)} as entity where entity.id = node.id)
      and not exists (select from outbox where kind = ${kind} and key = node.id::text)
    order by node.id`.execute(db);
  return rows.map(({ id }) => id);
}
