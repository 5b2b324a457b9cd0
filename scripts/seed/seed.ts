import type { Edges } from '../../db/graph/index.js';
import type { BareStores } from '../../db/stores.js';
import type { Progress } from '../progress.js';
import { friendPairs, likePairs, type Pair } from './edges.js';
import type { Population } from './population.js';
import { addAccounts, addPosts, vacuumAnalyze } from './rows.js';

export { type Population, problemsOf } from './population.js';

/** The ids of the created rows, in order of creation. */
export interface Seeded {
  accounts: number[];
  posts: number[];
}

/** The number of nodes or edges per graph transaction. */
const ITEMS_PER_TRANSACTION = 5000;

const NO_EDGES: Edges = { friendships: [], requests: [], likes: [] };

/**
 * Adds accounts, posts and edges in batches. It needs neither the locks nor the outbox of a request, because no client uses
 * the new data yet. On empty stores, equal populations produce equal data. If interrupted, it leaves rows without nodes,
 * which `npm run verify -- --repair` repairs.
 *
 * @param passwordHash the password hash of every account
 */
export async function seed(
  { maintenanceDb, graph }: Pick<BareStores, 'maintenanceDb' | 'graph'>,
  population: Population,
  passwordHash: string,
  progress: Progress,
): Promise<Seeded> {
  const { accounts, posts, likes, friends, popularPost, popularPerson } = population;
  const accountIds = await addAccounts(maintenanceDb, population, passwordHash, (done) =>
    progress('accounts', done, accounts),
  );
  const postIds = await addPosts(maintenanceDb, population, accountIds, (done) => progress('posts', done, posts));
  const { snapshot } = graph;
  for (const batch of batches(accountIds, accountIds.length, 'people', progress)) {
    await snapshot.ensureNodes({ people: batch, posts: [] });
  }
  for (const batch of batches(postIds, postIds.length, 'nodes of posts', progress)) {
    await snapshot.ensureNodes({ people: [], posts: batch });
  }
  const id = (ids: readonly number[], index: number) => ids[index] ?? 0;
  const friendships = (accounts * friends) / 2 + popularPerson;
  for (const batch of batches(friendPairs(population), friendships, 'friendships', progress)) {
    const bothDirections = batch.flatMap(([a, b]): Pair[] => [
      [a, b],
      [b, a],
    ]);
    await snapshot.addEdges({
      ...NO_EDGES,
      friendships: bothDirections.map(([a, b]) => ({ person: id(accountIds, a), friend: id(accountIds, b) })),
    });
  }
  for (const batch of batches(likePairs(population), likes + popularPost, 'likes', progress)) {
    await snapshot.addEdges({
      ...NO_EDGES,
      likes: batch.map(([person, post]) => ({ person: id(accountIds, person), post: id(postIds, post) })),
    });
  }
  await vacuumAnalyze(maintenanceDb);
  return { accounts: accountIds, posts: postIds };
}

function* batches<Item>(items: Iterable<Item>, total: number, step: string, progress: Progress): Generator<Item[]> {
  let batch: Item[] = [];
  let done = 0;
  for (const item of items) {
    batch.push(item);
    if (batch.length < ITEMS_PER_TRANSACTION) continue;
    progress(step, done, total);
    yield batch;
    done += batch.length;
    batch = [];
  }
  progress(step, done, total);
  if (batch.length > 0) yield batch;
}
