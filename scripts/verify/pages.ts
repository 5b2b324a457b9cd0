/** Below every id, those included that should not be there. */
const START = Number.MIN_SAFE_INTEGER;

/** Reads all there is, a page at a time, each after the last id of the one before. */
export async function* pages<Item>(
  read: (after: number, limit: number) => Promise<Item[]>,
  size: number,
  idOf: (item: Item) => number,
): AsyncGenerator<Item[]> {
  let after = START;
  for (;;) {
    const page = await read(after, size);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < size) return;
    after = idOf(last);
  }
}

/** Gathers a stream into lists of this many. */
export async function* chunks<Item>(items: AsyncIterable<Item>, size: number): AsyncGenerator<Item[]> {
  let chunk: Item[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
