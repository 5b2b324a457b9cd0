import { sql } from 'kysely';
import type { Database } from './postgres/index.js';
import { findPosts, listed, newestFirst, type Page, type PostRow, withPrivacy } from './posts.js';
import type { Lane } from './support/lane.js';

/** From this offset on a page is deep: it is found by going through all that comes before it. */
export const DEEP_OFFSET = 1000;

/** Which posts a list is made of: the public ones and those by these authors, or one author's own. */
export type PostList = { publicOrBy: readonly number[] } | { by: number };

/** Reads a deep page. One at a time, or a few clients that ask for them would keep PostgreSQL busy for everybody. */
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

/** How many posts one statement goes through: a few milliseconds, wherever the slice lies. */
const SLICE_POSTS = 3000;

/** Yet no statement goes through fewer, or the statements cost more than what they read. */
const LEAST_SLICE_POSTS = 1000;

/**
 * Returns the ids of a page, however deep it lies. All posts before it are counted on the way, slice by slice from the newest
 * on, so that the statements of others run in between. A post that is published meanwhile moves no slice.
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
    const wanted = skip + limit - ids.length;
    const scan = Math.min(Math.max(wanted, LEAST_SLICE_POSTS), slicePosts);
    const slice: Slice = await readSlice(db, list, { after: last, scan, skip, take: limit - ids.length });
    ids.push(...slice.ids);
    if (slice.scanned < scan || ids.length >= limit) return ids;
    skip = Math.max(0, skip - slice.visible);
    last = slice.last;
  }
}

/** The place of a post in the order of time. */
interface PostKey {
  id: number;
  /** As PostgreSQL spells it, with microseconds. */
  createdAt: string;
}

interface Slice {
  scanned: number;
  visible: number;
  ids: number[];
  last: PostKey;
}

interface SliceQuestion {
  after: PostKey | undefined;
  scan: number;
  skip: number;
  take: number;
}

/** Goes through so many posts of an index, and returns the ids of those that are wanted as one value. */
async function readSlice(db: Database, list: PostList, { after, scan, skip, take }: SliceQuestion): Promise<Slice> {
  const isBy = 'by' in list;
  const author = isBy ? sql`author_id = ${sql.lit(list.by)}` : sql`true`;
  const older = after
    ? sql`(created_at, id) < (${sql.lit(after.createdAt)}::timestamptz, ${sql.lit(after.id)})`
    : sql`true`;
  const isVisible = isBy
    ? sql`true`
    : sql`(private is not true or author_id = any(${listed(list.publicOrBy)}::int8[]))`;
  // Within the slice, so that it fits the type of a subscript.
  const first = Math.min(skip, scan) + 1;
  const { rows } = await sql<{ scanned: number; visible: number; ids: number[] | null; last: PostKey }>`
    select count(*)::int as scanned, (count(*) filter (where visible))::int as visible,
      to_json((array_agg(id) filter (where visible))[${sql.lit(first)}:${sql.lit(first + take - 1)}]) as ids,
      json_build_object('id', (array_agg(id))[count(*)], 'createdAt', (array_agg(created_at))[count(*)]::text) as last
    from (
      select posts.id, posts.created_at, ${isVisible} as visible
      from posts ${isBy ? sql`` : withPrivacy}
      where ${author} and ${older}
      order by ${newestFirst} limit ${sql.lit(scan)}
    ) slice`.execute(db);
  const [slice] = rows;
  if (!slice) throw new TypeError('an aggregate returns one row');
  return { ...slice, ids: slice.ids ?? [] };
}
