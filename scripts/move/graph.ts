import type { Edges, GraphSnapshot, SocialGraph } from '../../db/graph/index.js';
import type { Database } from '../../db/postgres/index.js';
import type { Progress } from '../../db/support/progress.js';
import type { Found } from './found.js';

/** How many people's ties are held at once, and how many ties or nodes are written in one go. */
const PEOPLE = 200;
const BATCH = 1000;

type Tie = [kind: keyof Edges, start: number, end: number];

export async function isEmpty({ snapshot }: SocialGraph): Promise<boolean> {
  const nodes = [...(await snapshot.personIds(0, 1)), ...(await snapshot.postIds(0, 1))];
  return nodes.length === 0;
}

/**
 * Makes the target's ties the same as the source's, whatever was there, and gives everybody and every post a node.
 *
 * @param db where the rows of the source are
 */
export async function carryGraph(
  db: Database,
  source: SocialGraph,
  target: SocialGraph,
  progress: Progress,
): Promise<void> {
  if (target.kind !== 'embedded') {
    await keepNodes(db, 'accounts', (people) => target.snapshot.ensureNodes({ people, posts: [] }), progress);
    await keepNodes(db, 'posts', (posts) => target.snapshot.ensureNodes({ people: [], posts }), progress);
  }
  const total = await count(db, 'accounts');
  for await (const { ours, theirs, done } of sideBySide(source.snapshot, target.snapshot)) {
    progress('copying ties', done, total);
    for (const batch of batches(minus(theirs, ours))) await target.snapshot.removeEdges(batch);
    for (const batch of batches(minus(ours, theirs))) await target.snapshot.addEdges(batch);
  }
}

export async function compareGraph(
  db: Database,
  source: SocialGraph,
  target: SocialGraph,
  progress: Progress,
  found: Found,
): Promise<void> {
  const total = await count(db, 'accounts');
  for await (const { ours, theirs, done } of sideBySide(source.snapshot, target.snapshot)) {
    progress('comparing ties', done, total);
    for (const tie of minus(ours, theirs)) found(`${tie.join(' ')} is missing`);
    for (const tie of minus(theirs, ours)) found(`${tie.join(' ')} is too much`);
  }
}

async function count(db: Database, table: 'accounts' | 'posts'): Promise<number> {
  const { count } = await db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

async function keepNodes(
  db: Database,
  table: 'accounts' | 'posts',
  keep: (ids: number[]) => Promise<void>,
  progress: Progress,
): Promise<void> {
  const total = await count(db, table);
  let done = 0;
  for (let after = 0; ; ) {
    progress(`making nodes for ${table}`, done, total);
    const rows = await db.selectFrom(table).select('id').where('id', '>', after).orderBy('id').limit(BATCH).execute();
    const last = rows.at(-1);
    if (!last) return;
    await keep(rows.map(({ id }) => id));
    after = last.id;
    done += rows.length;
  }
}

/** The ties of both, by the people from whom they go out. */
async function* sideBySide(source: GraphSnapshot, target: GraphSnapshot) {
  let after = 0;
  let done = 0;
  for (;;) {
    const listings = [await source.personIds(after, PEOPLE), await target.personIds(after, PEOPLE)];
    // Where one of them goes on after its page, nothing is known of it beyond.
    const end = Math.min(
      ...listings.map((ids) => (ids.length < PEOPLE ? Number.POSITIVE_INFINITY : (ids.at(-1) ?? 0))),
    );
    const people = [...new Set(listings.flat())].filter((id) => id <= end);
    if (people.length === 0) return;
    done += people.length;
    yield { ours: await outgoing(source, people), theirs: await outgoing(target, people), done };
    after = Math.max(...people);
  }
}

async function outgoing(inventory: GraphSnapshot, people: readonly number[]): Promise<Tie[]> {
  const { friendships, requests, likes } = await inventory.edgesOf(people);
  const wanted = new Set(people);
  const ties: Tie[] = [
    ...friendships.map(({ person, friend }): Tie => ['friendships', person, friend]),
    ...requests.map(({ from, to }): Tie => ['requests', from, to]),
    ...likes.map(({ person, post }): Tie => ['likes', person, post]),
  ];
  return ties.filter(([, start]) => wanted.has(start));
}

function minus(some: readonly Tie[], others: readonly Tie[]): Tie[] {
  const without = new Set(others.map(String));
  return some.filter((tie) => !without.has(String(tie)));
}

function* batches(ties: readonly Tie[]): Generator<Edges> {
  for (let start = 0; start < ties.length; start += BATCH) {
    const batch = ties.slice(start, start + BATCH);
    const of = (wanted: keyof Edges) => batch.filter(([kind]) => kind === wanted);
    yield {
      friendships: of('friendships').map(([, person, friend]) => ({ person, friend })),
      requests: of('requests').map(([, from, to]) => ({ from, to })),
      likes: of('likes').map(([, person, post]) => ({ person, post })),
    };
  }
}
