import type { Database } from '../db/postgres/index.js';
import type { TableWithIds } from '../db/postgres/sequences.js';

/** Lower than every id, including invalid ones. */
const BELOW_ALL_IDS = Number.MIN_SAFE_INTEGER;

/** Yields all items in pages, each starting after the last id of the previous one. */
export async function* paginate<Item>(
  read: (after: number, limit: number) => Promise<Item[]>,
  size: number,
  idOf: (item: Item) => number,
): AsyncGenerator<Item[]> {
  let after = BELOW_ALL_IDS;
  for (;;) {
    const page = await read(after, size);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < size) return;
    after = idOf(last);
  }
}

/** Returns a page of the ids of a table. */
export async function readIds(db: Database, table: TableWithIds, after: number, limit: number): Promise<number[]> {
  const rows = await db.selectFrom(table).select('id').where('id', '>', after).orderBy('id').limit(limit).execute();
  return rows.map(({ id }) => id);
}

/** Groups items into arrays of `size`, of which the last may be shorter. */
export async function* chunks<Item>(items: Iterable<Item> | AsyncIterable<Item>, size: number): AsyncGenerator<Item[]> {
  let chunk: Item[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
