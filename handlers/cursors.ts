import type { PostKey } from '../db/feed.js';

/*
 * Cursors of the lists of posts: the sort key of the last post of a page, in base64url. Clients must not depend on this format.
 */

/** The year 0000 is valid in RFC 3339, but not in PostgreSQL. */
const SORT_KEY = /^(?!0000)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([1-9]\d{0,15})$/;

export const encodeCursor = ({ createdAt, id }: PostKey): string =>
  Buffer.from(`${createdAt} ${id}`).toString('base64url');

/** Returns undefined if the text is not exactly what `encodeCursor` returns for some post. */
export function decodeCursor(cursor: string): PostKey | undefined {
  const [, createdAt = '', digits] = SORT_KEY.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const [time, id] = [new Date(createdAt), Number(digits)];
  // A time such as 30 February is valid for `Date`, but becomes another time.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== createdAt || !Number.isSafeInteger(id)) return undefined;
  const key = { createdAt, id };
  return encodeCursor(key) === cursor ? key : undefined;
}
