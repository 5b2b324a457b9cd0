import type { BareStores } from '../../db/stores/index.js';
import { chunks, withProgress } from '../support/pages.js';
import type { Progress } from '../support/progress.js';
import { friendPairs, likePairs } from './edges.js';
import type { Population } from './population.js';
import { addAccounts, addPosts, vacuumAnalyze } from './rows.js';

/** The number of accounts, posts, friendships or likes per graph transaction. */
const ITEMS_PER_TRANSACTION = 5000;

/**
 * Adds accounts, posts and edges in batches. Unlike a request, it uses neither locks nor the outbox, because no client uses
 * the new data yet. On empty stores, equal populations produce equal data, except for times. If interrupted, it leaves rows
 * without nodes, which `npm run verify -- --repair` repairs.
 *
 * @param passwordHash the password hash of every account
 * @returns the ids of the created rows, in order of creation
 */
export async function seed(
  { maintenanceDb, graph }: Pick<BareStores, 'maintenanceDb' | 'graph'>,
  population: Population,
  passwordHash: string,
  progress: Progress,
) {
  const accountIds = await addAccounts(maintenanceDb, population, passwordHash, progress);
  const postIds = await addPosts(maintenanceDb, population, accountIds, progress);
  const { bulk } = graph;
  const inBatches = <Item>(items: Iterable<Item>, step: string, total: number) =>
    withProgress(chunks(items, ITEMS_PER_TRANSACTION), step, total, progress);
  for await (const people of inBatches(accountIds, 'nodes of accounts', accountIds.length)) {
    await bulk.ensureNodes({ people, posts: [] });
  }
  for await (const posts of inBatches(postIds, 'nodes of posts', postIds.length)) {
    await bulk.ensureNodes({ people: [], posts });
  }
  const idAt = (ids: readonly number[], index: number) => ids[index] ?? 0;
  const friendshipCount = (population.accounts * population.friends) / 2;
  for await (const batch of inBatches(friendPairs(population), 'friendships', friendshipCount)) {
    const oneWay = batch.map(([a, b]) => ({ person: idAt(accountIds, a), friend: idAt(accountIds, b) }));
    const otherWay = oneWay.map(({ person, friend }) => ({ person: friend, friend: person }));
    await bulk.addEdges({ friendships: [...oneWay, ...otherWay], requests: [], likes: [] });
  }
  for await (const batch of inBatches(likePairs(population), 'likes', population.likes)) {
    const likes = batch.map(([person, post]) => ({ person: idAt(accountIds, person), post: idAt(postIds, post) }));
    await bulk.addEdges({ friendships: [], requests: [], likes });
  }
  await vacuumAnalyze(maintenanceDb);
  return { accounts: accountIds, posts: postIds };
}
