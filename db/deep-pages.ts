import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from './postgres/index.js';
import { findPosts, idArray, newestFirst, type Page, type PostRow, withPrivacy } from './posts.js';
import type { Lane } from './support/lane.js';
import { publicOr } from './visibility.js';

/*
 * Pages that lie deep in a list. PostgreSQL finds such a page by going through all posts before it, which takes seconds in a
 * list of millions. So it goes through them slice by slice, from the newest on, counting the visible posts of each slice:
 * other statements run in between, and the scan ends when the client leaves. Only one deep page is read at a time.
 */

/** Pages from this offset on are deep. */
export const DEEP_OFFSET = 1000;

/** The posts of a list: those that are public or by one of these authors, or one author's own. */
export type PostList = { publicOrBy: readonly number[] } | { by: number };

/** How many posts one statement goes through: a few milliseconds, wherever the slice lies. */
const SLICE_POSTS = 3000;

/** Smaller slices would cost more than what they read. */
const MIN_SLICE_POSTS = 1000;

export async function readDeepPage(
  { db, deepPages }: { db: Database; deepPages: Lane },
  list: PostList,
  page: Page,
  signal: AbortSignal | undefined,
): Promise<PostRow[]> {
  return deepPages.run(async () => {
    const ids = await findDeepIds(db, list, page, { signal });
    const posts = await findPosts(db, ids);
    return ids.flatMap((id) => posts.get(id) ?? []);
  }, signal);
}

/**
 * Returns the ids of a page, however deep it lies. A post that is published meanwhile moves no slice.
 *
 * @param signal aborts when the client has left
 */
export async function findDeepIds(
  db: Database,
  list: PostList,
  { limit, offset }: Page,
  { signal, slicePosts = SLICE_POSTS }: { signal?: AbortSignal | undefined; slicePosts?: number } = {},
): Promise<number[]> {
  const ids: number[] = [];
  let [skip, last]: [number, PostKey | undefined] = [offset, undefined];
  for (;;) {
    signal?.throwIfAborted();
    const missing = limit - ids.length;
    const scan = Math.min(Math.max(skip + missing, MIN_SLICE_POSTS), slicePosts);
    const slice: Slice = await readSlice(db, list, { after: last, scan, skip, take: missing });
    ids.push(...slice.ids);
    if (slice.scanned < scan || ids.length >= limit) return ids;
    skip = Math.max(0, skip - slice.visible);
    last = slice.last;
  }
}

/** The place of a post in the order of lists. */
interface PostKey {
  id: number;
  /** As PostgreSQL spells it, with microseconds. */
  createdAt: string;
}

interface SliceQuery {
  /** The slice begins after this post. */
  after: PostKey | undefined;
  /** How many posts to go through. */
  scan: number;
  /** How many visible posts to skip, and how many of the following to return. */
  skip: number;
  take: number;
}

interface Slice {
  scanned: number;
  visible: number;
  ids: number[];
  last: PostKey;
}

async function readSlice(db: Database, list: PostList, { after, scan, skip, take }: SliceQuery): Promise<Slice> {
  const { join, where, isVisible } = partsFor(list);
  const isOlder = after
    ? sql`(created_at, id) < (${sql.lit(after.createdAt)}::timestamptz, ${sql.lit(after.id)})`
    : sql`true`;
  // At most the slice's length, so that it fits the type of a subscript.
  const first = Math.min(skip, scan) + 1;
  const { rows } = await sql<{ scanned: number; visible: number; ids: number[] | null; last: PostKey }>`
    select count(*)::int as scanned, (count(*) filter (where visible))::int as visible,
      to_json((array_agg(id) filter (where visible))[${sql.lit(first)}:${sql.lit(first + take - 1)}]) as ids,
      json_build_object('id', (array_agg(id))[count(*)], 'createdAt', (array_agg(created_at))[count(*)]::text) as last
    from (
      select posts.id, posts.created_at, ${isVisible} as visible
      from posts ${join}
      where ${where} and ${isOlder}
      order by ${newestFirst} limit ${sql.lit(scan)}
    ) slice`.execute(db);
  const [slice] = rows;
  if (!slice) throw new TypeError('an aggregate returns one row');
  return { ...slice, ids: slice.ids ?? [] };
}

/** What of the statement differs between the two kinds of lists. */
function partsFor(list: PostList): Record<'join' | 'where' | 'isVisible', RawBuilder<unknown>> {
  if ('by' in list) return { join: sql``, where: sql`author_id = ${sql.lit(list.by)}`, isVisible: sql`true` };
  const isByThem = sql<SqlBool>`author_id = any(${idArray(list.publicOrBy)})`;
  return { join: withPrivacy, where: sql`true`, isVisible: publicOr(isByThem) };
}
