import type { BareStores } from '../../db/stores/index.js';
import { BELOW_ALL_IDS, readIds } from '../support/pages.js';
import { type Differences, findDifferences } from './differences.js';

/**
 * Compares the nodes of people or posts with their rows, in pages of ids. In a graph in tables, the people and posts are those
 * of its edges, and no row needs a node.
 *
 * @param onPage called with the number of rows that have been compared
 */
export async function compareNodes(
  { maintenanceDb: db, graph }: Pick<BareStores, 'maintenanceDb' | 'graph'>,
  kind: 'person' | 'post',
  pageSize: number,
  onPage: (done: number) => void,
): Promise<Differences<number>> {
  const readNodes = kind === 'person' ? graph.bulk.personIds : graph.bulk.postIds;
  const readRows = readIds(db, kind === 'person' ? 'accounts' : 'posts');
  const found: Differences<number> = { unexpected: [], missing: [] };
  const page = { after: BELOW_ALL_IDS, end: Number.POSITIVE_INFINITY, rows: 0 };
  /** Compares the ids up to the last one that both lists cover. */
  const comparePage = async () => {
    const nodes = await readNodes(page.after, pageSize);
    const rows = await readRows(page.after, pageSize);
    page.end = Math.min(page.end, ...[nodes, rows].map((ids) => lastOfFullPage(ids, pageSize)));
    const upToEnd = (ids: readonly number[]) => ids.filter((id) => id <= page.end);
    page.rows = upToEnd(rows).length;
    return {
      unexpected: subtract(upToEnd(nodes), rows),
      missing: graph.hasNodes ? subtract(upToEnd(rows), nodes) : [],
    };
  };
  let done = 0;
  while (Number.isFinite(page.after)) {
    page.end = Number.POSITIVE_INFINITY;
    const { unexpected, missing } = await findDifferences(db, kind, comparePage);
    found.unexpected.push(...unexpected);
    found.missing.push(...missing);
    done += page.rows;
    onPage(done);
    page.after = page.end;
  }
  return found;
}

/** Returns the last id of a full page. After a shorter one, there are no more. */
const lastOfFullPage = (ids: readonly number[], pageSize: number) =>
  ids.length < pageSize ? Number.POSITIVE_INFINITY : (ids.at(-1) ?? Number.POSITIVE_INFINITY);

function subtract(ids: readonly number[], others: readonly number[]): number[] {
  const excluded = new Set(others);
  return ids.filter((id) => !excluded.has(id));
}
