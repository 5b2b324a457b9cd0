import { sql } from 'kysely';
import type { Test } from 'tap';
import type { SocialGraph } from '../../db/graph/index.js';
import type { Stores } from '../../db/stores/index.js';
import { listImageNames } from './image-store.js';
import { until } from './until.js';

/** Returns the number of likes of each post, in the order of `posts`. */
export async function countLikes(graph: SocialGraph, posts: readonly number[]): Promise<number[]> {
  const { likes } = await graph.relationsBetween([], [], posts);
  return posts.map((post) => likes.get(post)?.count ?? 0);
}

export const idsOf = (entries: readonly { id: number }[]): number[] => entries.map(({ id }) => id);

/** Makes all undelivered entries due, including those of pending images, and waits until they are delivered. */
export async function drainOutbox({ db }: Pick<Stores, 'db'>): Promise<void> {
  await db.updateTable('outbox').set({ due_at: sql`clock_timestamp()` }).where('delivered', '=', false).execute();
  const undelivered = db.selectFrom('outbox').select('id').where('delivered', '=', false);
  await until(async () => (await undelivered.execute()).length === 0);
}

/** Drains the outbox, then expects the stores to be empty. */
export async function expectEmptyStores(t: Test, { db, graph, images }: Stores): Promise<void> {
  await drainOutbox({ db });
  for (const table of ['accounts', 'sessions', 'posts', 'idempotency_keys'] as const)
    t.same(await db.selectFrom(table).selectAll().execute(), [], table);
  const edges = await graph.bulk.edgesOf(await graph.bulk.personIds(0, 100_000));
  t.same(edges, { friendships: [], requests: [], likes: [] });
  t.same(await listImageNames(images), []);
}
