import { sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import type { Inspection } from './inspection.js';
import { pages } from './pages.js';
import type { RuleName } from './rules.js';

/** What stands for the same thing in the graph and in PostgreSQL. */
interface Sides {
  kind: 'person' | 'post';
  ids: 'personIds' | 'postIds';
  table: 'accounts' | 'posts';
  nodeHasRow: RuleName;
  rowHasNode: RuleName;
}

export const PEOPLE: Sides = {
  kind: 'person',
  ids: 'personIds',
  table: 'accounts',
  nodeHasRow: 'personHasAccount',
  rowHasNode: 'accountHasPerson',
};

export const POSTS: Sides = {
  kind: 'post',
  ids: 'postIds',
  table: 'posts',
  nodeHasRow: 'postNodeHasPost',
  rowHasNode: 'postHasNode',
};

type Ids = readonly number[];
type ReadIds = (after: number, limit: number) => Promise<number[]>;

/**
 * A row goes in the transaction that enters its node in the outbox, and the entry goes once the node has. So a node that
 * was seen before there was neither row nor entry, and is seen again after, is nobody's: ids are not given out twice.
 */
export async function checkNodes(inspection: Inspection, sides: Sides): Promise<void> {
  const { stores, pageSize, progress } = inspection;
  const read = stores.graph.snapshot[sides.ids];
  for await (const nodes of pages(read, pageSize, (id) => id)) {
    const suspects = await withoutRow(stores.maintenanceDb, sides, nodes);
    const there = await among(read, suspects, pageSize);
    await report(
      inspection,
      sides,
      sides.nodeHasRow,
      suspects.filter((id) => there.has(id)),
    );
    progress.advance(nodes.length);
  }
}

/**
 * A row is written with an entry for its node, and the entry goes once the node is there. So what has a row and no entry
 * has its node from then on, for as long as it has the row: the node is looked for between two looks at the row.
 */
export async function checkRows(inspection: Inspection, sides: Sides): Promise<void> {
  const { stores, pageSize, progress } = inspection;
  const read = stores.graph.snapshot[sides.ids];
  const db = stores.maintenanceDb;
  for await (const rows of pages(
    (after, limit) => rowIds(db, sides, after, limit),
    pageSize,
    (id) => id,
  )) {
    const there = await among(read, rows, pageSize);
    const suspects = await withoutEntry(
      db,
      sides,
      rows.filter((id) => !there.has(id)),
    );
    const late = await among(read, suspects, pageSize);
    const missing = await withoutEntry(
      db,
      sides,
      suspects.filter((id) => !late.has(id)),
    );
    await report(inspection, sides, sides.rowHasNode, missing);
    progress.advance(rows.length);
  }
}

async function report({ findings, repair }: Inspection, { kind }: Sides, rule: RuleName, ids: Ids): Promise<void> {
  if (ids.length === 0) return;
  const mended = await repair?.settle(ids.map((key) => ({ kind, key })));
  findings.add(
    rule,
    ids.map((id) => `${kind} ${id}`),
    mended,
  );
}

/** Which of these ascending ids are read. */
async function among(read: ReadIds, ids: Ids, pageSize: number): Promise<ReadonlySet<number>> {
  const wanted = new Set(ids);
  const there = new Set<number>();
  const last = ids.at(-1);
  if (ids[0] === undefined || last === undefined) return there;
  for (let after = ids[0] - 1; after < last; ) {
    const page = await read(after, pageSize);
    for (const id of page) if (wanted.has(id)) there.add(id);
    after = page.length < pageSize ? last : (page.at(-1) ?? last);
  }
  return there;
}

async function rowIds(db: Database, { table }: Sides, after: number, limit: number): Promise<number[]> {
  const rows = await db.selectFrom(table).select('id').where('id', '>', after).orderBy('id').limit(limit).execute();
  return rows.map(({ id }) => id);
}

/** Which of these ids, ascending, have neither a row nor an entry in the outbox, at one moment. */
const withoutRow = (db: Database, sides: Sides, ids: Ids) => settled(db, sides, ids, sql`not exists`);

/** Which of these ids, ascending, have a row and no entry in the outbox, at one moment. */
const withoutEntry = (db: Database, sides: Sides, ids: Ids) => settled(db, sides, ids, sql`exists`);

async function settled(
  db: Database,
  { kind, table }: Sides,
  ids: Ids,
  exists: ReturnType<typeof sql>,
): Promise<number[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: number }>`
    select node.id from unnest(${ids}::int8[]) as node (id)
    where ${exists} (select from ${sql.table(table)} as there where there.id = node.id)
      and not exists (select from outbox where kind = ${kind} and key = node.id::text)
    order by node.id`.execute(db);
  return rows.map(({ id }) => id);
}
