import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Edges, SocialGraph } from '../../db/graph/index.js';
import type { Stores } from '../../db/stores.js';

/** The names of all stored images, sorted. */
export async function storedImages({ images }: Pick<Stores, 'images'>): Promise<string[]> {
  const names: string[] = [];
  for await (const name of images.list()) names.push(name);
  return names.sort();
}

/** Everything that ties these people, or all of them. */
export async function storedTies({ graph }: Pick<Stores, 'graph'>, people?: readonly number[]): Promise<Edges> {
  return graph.snapshot.edgesOf(people ?? (await graph.snapshot.personIds(0, 100_000)));
}

/** How many like each of these posts. */
export async function countLikes(graph: SocialGraph, posts: readonly number[]): Promise<number[]> {
  const { likes } = await graph.relationsBetween([], [], posts);
  return posts.map((post) => likes.get(post)?.count ?? 0);
}

/** How much of everything there is. */
export async function holdings(stores: Pick<Stores, 'db' | 'graph' | 'images'>) {
  const count = async (table: 'accounts' | 'sessions' | 'posts') =>
    (await stores.db.selectFrom(table).selectAll().execute()).length;
  return {
    accounts: await count('accounts'),
    sessions: await count('sessions'),
    posts: await count('posts'),
    ties: await storedTies(stores),
    images: (await storedImages(stores)).length,
  };
}

export const nothing: Awaited<ReturnType<typeof holdings>> = {
  accounts: 0,
  sessions: 0,
  posts: 0,
  ties: { friendships: [], requests: [], likes: [] },
  images: 0,
};

/** What has yet to be delivered for the first time. */
export async function undelivered({ db }: Pick<Stores, 'db'>) {
  return db.selectFrom('outbox').select(['kind', 'key', 'attempts']).where('delivered', '=', false).execute();
}

/** Until everything is delivered, also what would have waited longer: bytes that a write has stored and never claimed. */
export async function settled(stores: Pick<Stores, 'db'>): Promise<void> {
  await stores.db
    .updateTable('outbox')
    .set({ due_at: sql`clock_timestamp()` })
    .where('delivered', '=', false)
    .execute();
  while ((await undelivered(stores)).length > 0) await sleep(20);
}
