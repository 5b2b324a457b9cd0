/** Converts a value to JSON. Omits properties that the contract does not declare. */
export type Serialize = (value: unknown) => string;

/** The property of an item that caches its JSON. */
const JSON_CACHE = Symbol('json');

type Item = object & { [JSON_CACHE]?: string };

/**
 * Returns the JSON of a list. The JSON of an item is kept for as long as the item itself. When many users read the feed at the
 * same time, this makes it about a quarter faster, because their lists share items: see `postView`.
 */
export function serializeList(items: readonly Item[], serializeItem: Serialize): string {
  let json = '[';
  for (const item of items) {
    item[JSON_CACHE] ??= serializeItem(item);
    json += json === '[' ? item[JSON_CACHE] : `,${item[JSON_CACHE]}`;
  }
  return `${json}]`;
}
