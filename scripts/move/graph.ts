import type { BulkAccess, Edges, SocialGraph } from '../../db/graph/index.js';
import type { Database } from '../../db/postgres/index.js';
import type { TableWithIds } from '../../db/postgres/sequences.js';
import { chunks, paginate, readIds, withProgress } from '../support/pages.js';
import type { Progress } from '../support/progress.js';
import { countRows, type OnDifference } from './rows.js';
import type { StoreSet } from './stores.js';

/** The number of people whose edges are held in memory. */
const PEOPLE_PER_PAGE = 200;

/** The number of nodes or edges per write. */
const ITEMS_PER_WRITE = 1000;

type Edge = [kind: keyof Edges, start: number, end: number];

interface MovedGraphs {
  source: Pick<StoreSet, 'db' | 'graph'>;
  target: Pick<StoreSet, 'graph'>;
}

/** Returns whether a graph has no nodes. */
export async function isEmpty({ bulk }: SocialGraph): Promise<boolean> {
  const nodes = [...(await bulk.personIds(0, 1)), ...(await bulk.postIds(0, 1))];
  return nodes.length === 0;
}

/** Makes the edges of the target equal to those of the source. In Neo4j, first creates a node for every account and post. */
export async function copyGraph(stores: MovedGraphs, progress: Progress): Promise<void> {
  const { hasNodes, bulk } = stores.target.graph;
  const { db } = stores.source;
  if (hasNodes) {
    await createNodes(db, 'accounts', (people) => bulk.ensureNodes({ people, posts: [] }), progress);
    await createNodes(db, 'posts', (posts) => bulk.ensureNodes({ people: [], posts }), progress);
  }
  for await (const { missing, unexpected } of findDifferences(stores, 'copying relations', progress)) {
    for await (const batch of chunks(unexpected, ITEMS_PER_WRITE)) await bulk.removeEdges(groupByKind(batch));
    for await (const batch of chunks(missing, ITEMS_PER_WRITE)) await bulk.addEdges(groupByKind(batch));
  }
}

export async function compareGraph(stores: MovedGraphs, progress: Progress, onDifference: OnDifference): Promise<void> {
  for await (const { missing, unexpected } of findDifferences(stores, 'comparing relations', progress)) {
    for (const edge of missing) onDifference(`${edge.join(' ')} is missing`);
    for (const edge of unexpected) onDifference(`${edge.join(' ')} is unexpected`);
  }
}

async function createNodes(
  db: Database,
  table: TableWithIds,
  create: (ids: number[]) => Promise<void>,
  progress: Progress,
): Promise<void> {
  const pages = paginate(readIds(db, table), ITEMS_PER_WRITE);
  const total = await countRows(db, table);
  for await (const ids of withProgress(pages, `creating nodes for ${table}`, total, progress)) await create(ids);
}

/** Yields the edges that only one of the graphs contains, for one page of people after the other. */
async function* findDifferences(stores: MovedGraphs, step: string, progress: Progress) {
  const [source, target] = [stores.source.graph.bulk, stores.target.graph.bulk];
  const total = await countRows(stores.source.db, 'accounts');
  for await (const people of withProgress(peopleOfEither(source, target), step, total, progress)) {
    const [sourceEdges, targetEdges] = [await outgoingEdges(source, people), await outgoingEdges(target, people)];
    yield { missing: subtract(sourceEdges, targetEdges), unexpected: subtract(targetEdges, sourceEdges) };
  }
}

/** Yields pages of the people who are in at least one of the graphs. */
async function* peopleOfEither(source: BulkAccess, target: BulkAccess): AsyncGenerator<number[]> {
  let after = 0;
  for (;;) {
    const pages = [await source.personIds(after, PEOPLE_PER_PAGE), await target.personIds(after, PEOPLE_PER_PAGE)];
    // Stop at the last id that both pages cover.
    const end = Math.min(
      ...pages.map((ids) => (ids.length < PEOPLE_PER_PAGE ? Number.POSITIVE_INFINITY : (ids.at(-1) ?? 0))),
    );
    const people = [...new Set(pages.flat())].filter((id) => id <= end);
    if (people.length === 0) return;
    yield people;
    after = Math.max(...people);
  }
}

async function outgoingEdges(bulk: BulkAccess, people: readonly number[]): Promise<Edge[]> {
  const { friendships, requests, likes } = await bulk.edgesOf(people);
  const wanted = new Set(people);
  const edges: Edge[] = [
    ...friendships.map(({ person, friend }): Edge => ['friendships', person, friend]),
    ...requests.map(({ from, to }): Edge => ['requests', from, to]),
    ...likes.map(({ person, post }): Edge => ['likes', person, post]),
  ];
  return edges.filter(([, start]) => wanted.has(start));
}

function subtract(edges: readonly Edge[], others: readonly Edge[]): Edge[] {
  const excluded = new Set(others.map(String));
  return edges.filter((edge) => !excluded.has(String(edge)));
}

function groupByKind(edges: readonly Edge[]): Edges {
  const ofKind = (kind: keyof Edges) => edges.filter((edge) => edge[0] === kind);
  return {
    friendships: ofKind('friendships').map(([, person, friend]) => ({ person, friend })),
    requests: ofKind('requests').map(([, from, to]) => ({ from, to })),
    likes: ofKind('likes').map(([, person, post]) => ({ person, post })),
  };
}
