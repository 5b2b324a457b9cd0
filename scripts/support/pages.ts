import type { Database } from '../../db/postgres/index.js';
import type { Progress } from './progress.js';

/** Lower than every id, including invalid ones. */
export const BELOW_ALL_IDS = Number.MIN_SAFE_INTEGER;

/** Returns the first `limit` items after an id, in the order of their ids. */
type ReadPage<Item> = (after: number, limit: number) => Promise<Item[]>;

/** Yields all items in pages. Each item is an id or has one. Each page starts after the last id of the previous page. */
export async function* paginate<Item extends number | { id: number }>(
  read: ReadPage<Item>,
  size: number,
): AsyncGenerator<Item[]> {
  let after = BELOW_ALL_IDS;
  for (;;) {
    const page = await read(after, size);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < size) return;
    after = typeof last === 'number' ? last : last.id;
  }
}

/** Returns a function that reads a page of the ids of a table. */
export const readIds =
  (db: Database, table: 'accounts' | 'posts' | 'outbox' | 'operator_log'): ReadPage<number> =>
  async (after, limit) => {
    const rows = await db.selectFrom(table).select('id').where('id', '>', after).orderBy('id').limit(limit).execute();
    return rows.map(({ id }) => id);
  };

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

/** Yields the pages of a step. Reports the number of items in the completed pages, before the first page and after each. */
export async function* withProgress<Item>(
  pages: AsyncIterable<Item[]>,
  step: string,
  total: number,
  progress: Progress,
): AsyncGenerator<Item[]> {
  let done = 0;
  progress(step, done, total);
  for await (const page of pages) {
    yield page;
    done += page.length;
    progress(step, done, total);
  }
}
