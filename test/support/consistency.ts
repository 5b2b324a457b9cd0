import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Test } from 'tap';
import type { Edges, SocialGraph } from '../../db/graph/index.js';
import type { Stores } from '../../db/stores/index.js';
import { paginate } from '../../scripts/support/pages.js';
import { listImageNames } from './image-store.js';
import { findDifferences } from './store-fixtures.js';
import { openTestStores } from './stores.js';
import { until } from './until.js';

const PEOPLE_PER_PAGE = 200;

/**
 * Drains the outbox, then fails the test if `npm run verify` finds a difference, or if a store contains data that its
 * constraints, locks and transactions should prevent.
 */
export async function expectConsistentStores(t: Test, stores: Stores): Promise<void> {
  await drainOutbox(stores);
  t.same(await findDifferences(stores), {}, 'the stores are consistent');
  t.same(await findRowProblems(stores), [], 'every post has an author, and no post shares its image with an account');
  t.same(await findGraphProblems(stores), [], 'no edges contradict each other');
}

/**
 * Makes all outbox entries due, and waits until they are processed. Then expects interrupted writes to have left nothing in
 * the stores. No service may be using the stores.
 */
export async function expectNoLeftovers(t: Test, environment: NodeJS.ProcessEnv): Promise<void> {
  const stores = await openTestStores(t, environment);
  const { db, directory } = stores;
  const remainingEntries = () => db.selectFrom('outbox').select('id').execute();
  while ((await remainingEntries()).length > 0) {
    const now = sql<string>`clock_timestamp()`;
    await db.updateTable('outbox').set({ due_at: now }).where('due_at', '>', now).execute();
    await sleep(50);
  }
  await expectConsistentStores(t, stores);
  const uploadsName = basename(directory.uploads);
  t.same(
    await readdir(join(directory.uploads, '..')),
    [uploadsName, `${uploadsName}.lock`, 'lock'].sort(),
    'other processes have left no uploads',
  );
  t.same(await readdir(directory.uploads), [], 'this process has left no uploads');
  await stores.close();
}

async function findRowProblems({ db }: Stores): Promise<unknown[]> {
  const { rows } = await sql`
    select id, 'no author' as problem from posts
    where not exists (select from accounts where accounts.id = author_id)
    union all
    select id, 'shared image' from posts where exists (select from accounts where picture = image)`.execute(db);
  return rows;
}

async function findGraphProblems({ graph }: Stores): Promise<string[]> {
  const problems = new Set<string>();
  for await (const people of paginate(graph.bulk.personIds, PEOPLE_PER_PAGE)) {
    for (const problem of findEdgeProblems(await graph.bulk.edgesOf(people))) problems.add(problem);
  }
  return [...problems];
}

/** Describes the edges that contradict others. The argument must contain all edges between any two of its people. */
function findEdgeProblems({ friendships, requests, likes }: Edges): string[] {
  const friends = friendships.map(({ person, friend }) => `${person} ${friend}`);
  const requested = requests.map(({ from, to }) => `${from} ${to}`);
  const liked = likes.map(({ person, post }) => `${person} ${post}`);
  const reverse = (pair: string) => pair.split(' ').reverse().join(' ');
  const problems = {
    'related to oneself': [...friends, ...requested].filter((pair) => pair === reverse(pair)),
    duplicate: [friends, requested, liked].flatMap((pairs) =>
      pairs.filter((pair, index) => pairs.indexOf(pair) < index),
    ),
    'one-sided friendship': friends.filter((pair) => !friends.includes(reverse(pair))),
    'request between friends': requested.filter((pair) => friends.includes(pair) || friends.includes(reverse(pair))),
    'mutual requests': requested.filter((pair) => requested.includes(reverse(pair))),
  };
  return Object.entries(problems).flatMap(([problem, pairs]) => pairs.map((pair) => `${problem}: ${pair}`));
}

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

/** Drains the outbox, then expects the stores to be empty, and no upload to be left. */
export async function expectEmptyStores(t: Test, { db, graph, images, directory }: Stores): Promise<void> {
  await drainOutbox({ db });
  for (const table of ['accounts', 'sessions', 'posts', 'idempotency_keys'] as const)
    t.same(await db.selectFrom(table).selectAll().execute(), [], table);
  const edges = await graph.bulk.edgesOf(await graph.bulk.personIds(0, 100_000));
  t.same(edges, { friendships: [], requests: [], likes: [] });
  t.same(await listImageNames(images), []);
  t.same(await readdir(directory.uploads), []);
}
