import type { Database } from '../../db/postgres/index.js';
import type { OutboxKind } from '../../db/schema.js';

/*
 * Compares another store with the rows in PostgreSQL, the source of truth, while the service may be running.
 *
 * A difference may be a write in progress. Then the outbox has an entry for it: an entry is added with a row or in the
 * transaction that deletes it, and deleted after the other store was changed; that of an image is added before the image is
 * stored, and deleted in the transaction that adds its row. Therefore, what differs is compared again. It is a difference only
 * if it differs both times and had no entry in between. This is exact, because ids and names are never reused: what had no row
 * and no entry will not be removed any more, and what had a row and no entry was there.
 */

/** What only the other store contains, and what only PostgreSQL contains: ids of people or posts, or names of images. */
export interface Differences<Key> {
  unexpected: Key[];
  missing: Key[];
}

/** @param compare reads the other store first, then the rows */
export async function findDifferences<Key extends number | string>(
  db: Database,
  kind: OutboxKind,
  compare: () => Promise<Differences<Key>>,
): Promise<Differences<Key>> {
  const first = await compare();
  const keys = [...first.unexpected, ...first.missing].map(String);
  if (keys.length === 0) return first;
  const entries = await db
    .selectFrom('outbox')
    .select('key')
    .where('kind', '=', kind)
    .where((eb) => eb('key', '=', eb.fn.any(eb.val(keys))))
    .execute();
  const pending = new Set(entries.map(({ key }) => key));
  const second = await compare();
  const confirm = (before: Key[], after: Key[]) => {
    const remaining = new Set(after);
    return before.filter((key) => remaining.has(key) && !pending.has(String(key)));
  };
  return {
    unexpected: confirm(first.unexpected, second.unexpected),
    missing: confirm(first.missing, second.missing),
  };
}
