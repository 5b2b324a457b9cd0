import type { Edges } from '../../db/graph/index.js';
import type { BareStores } from '../../db/stores.js';
import type { Progress } from '../../db/support/progress.js';
import type { Population } from './population.js';
import { addAccounts, addPosts, settle } from './rows.js';
import { friendPairs, likePairs, type Pair } from './ties.js';

export { type Population, problemsOf } from './population.js';

/** The ids of what was made, in the order in which it was. */
export interface Seeded {
  accounts: number[];
  posts: number[];
}

/** How many nodes or ties one transaction of the graph makes. */
const BATCH = 5000;

const NO_TIES: Edges = { friendships: [], requests: [], likes: [] };

/**
 * Makes people, posts and ties beside whatever is there, many at a time: without the locks and the outbox of a request, since
 * nobody knows of them yet. The same population on empty stores makes the same. Ended half-way, it leaves rows without nodes,
 * which a repair mends.
 *
 * @param passwordHash everybody's
 */
export async function seed(
  { maintenanceDb, graph }: Pick<BareStores, 'maintenanceDb' | 'graph'>,
  population: Population,
  passwordHash: string,
  progress: Progress,
): Promise<Seeded> {
  const { accounts, posts, likes, friends, popularPost, popularPerson } = population;
  const people = await addAccounts(maintenanceDb, population, passwordHash, (done) =>
    progress('accounts', done, accounts),
  );
  const written = await addPosts(maintenanceDb, population, people, (done) => progress('posts', done, posts));
  const { snapshot } = graph;
  for (const batch of batches(people, people.length, 'people', progress)) {
    await snapshot.ensureNodes({ people: batch, posts: [] });
  }
  for (const batch of batches(written, written.length, 'nodes of posts', progress)) {
    await snapshot.ensureNodes({ people: [], posts: batch });
  }
  const id = (ids: readonly number[], index: number) => ids[index] ?? 0;
  const friendships = (accounts * friends) / 2 + popularPerson;
  for (const batch of batches(friendPairs(population), friendships, 'friendships', progress)) {
    const both = batch.flatMap(([one, other]): Pair[] => [
      [one, other],
      [other, one],
    ]);
    await snapshot.addEdges({
      ...NO_TIES,
      friendships: both.map(([one, other]) => ({ person: id(people, one), friend: id(people, other) })),
    });
  }
  for (const batch of batches(likePairs(population), likes + popularPost, 'likes', progress)) {
    await snapshot.addEdges({
      ...NO_TIES,
      likes: batch.map(([person, post]) => ({ person: id(people, person), post: id(written, post) })),
    });
  }
  await settle(maintenanceDb);
  return { accounts: people, posts: written };
}

function* batches<Item>(items: Iterable<Item>, total: number, step: string, progress: Progress): Generator<Item[]> {
  let batch: Item[] = [];
  let done = 0;
  for (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    progress(step, done, total);
    yield batch;
    done += batch.length;
    batch = [];
  }
  progress(step, done, total);
  if (batch.length > 0) yield batch;
}
