import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Edges, SocialGraph } from '../../db/graph/index.js';
import type { Stores } from '../../db/stores.js';
import { listImageNames } from './image-store.js';

/** Returns the edges of these users, or of all users. */
export async function readEdges({ graph }: Pick<Stores, 'graph'>, userIds?: readonly number[]): Promise<Edges> {
  return graph.bulk.edgesOf(userIds ?? (await graph.bulk.personIds(0, 100_000)));
}

/** Returns the number of likes of each post, in the order of `posts`. */
export async function countLikes(graph: SocialGraph, posts: readonly number[]): Promise<number[]> {
  const { likes } = await graph.relationsBetween([], [], posts);
  return posts.map((post) => likes.get(post)?.count ?? 0);
}

/** Returns the number of rows and images, and all edges. */
export async function readContents(stores: Pick<Stores, 'db' | 'graph' | 'images'>) {
  const count = async (table: 'accounts' | 'sessions' | 'posts') =>
    (await stores.db.selectFrom(table).selectAll().execute()).length;
  return {
    accounts: await count('accounts'),
    sessions: await count('sessions'),
    posts: await count('posts'),
    edges: await readEdges(stores),
    images: (await listImageNames(stores.images)).length,
  };
}

export const EMPTY_CONTENTS: Awaited<ReturnType<typeof readContents>> = {
  accounts: 0,
  sessions: 0,
  posts: 0,
  edges: { friendships: [], requests: [], likes: [] },
  images: 0,
};

export const idsOf = (entries: readonly { id: number }[]): number[] => entries.map(({ id }) => id);

/** Makes all undelivered entries due, including those of unclaimed images, and waits until they are delivered. */
export async function drainOutbox({ db }: Pick<Stores, 'db'>): Promise<void> {
  await db.updateTable('outbox').set({ due_at: sql`clock_timestamp()` }).where('delivered', '=', false).execute();
  const undelivered = db.selectFrom('outbox').select('id').where('delivered', '=', false);
  while ((await undelivered.execute()).length > 0) await sleep(20);
}
