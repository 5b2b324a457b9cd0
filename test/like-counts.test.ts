import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { embeddedGraph } from '../db/graph/embedded.js';
import { migrations } from '../db/migrations/index.js';
import { unobserved } from '../db/observer.js';
import { openEmbeddedPostgres } from '../db/postgres/embedded.js';
import type { Database } from '../db/postgres/index.js';
import { countLikes } from './contents.js';
import { openTestStores, temporaryDirectory } from './stores.js';

const counted = async (db: Database) =>
  new Map(
    (await db.selectFrom('graph_like_counts').selectAll().execute()).map(({ post_id, likes }) => [post_id, likes]),
  );

/** The likes of each post that has any, counted one by one. */
async function there(db: Database): Promise<Map<number, number>> {
  const likes = await db.selectFrom('graph_likes').select('post_id').execute();
  const counts = new Map<number, number>();
  for (const { post_id } of likes) counts.set(post_id, (counts.get(post_id) ?? 0) + 1);
  return counts;
}

const agree = async (t: Test, db: Database, message: string) =>
  t.strictSame(await counted(db), await there(db), message);

t.test('whatever becomes of likes, they are counted', async (t) => {
  const { db } = await openTestStores(t);
  const graph = embeddedGraph(db);
  const likes = (people: number[], posts: number[]) =>
    people.flatMap((person) => posts.map((post) => ({ person, post })));
  await graph.like(likes([1, 2, 3, 4], [1, 2, 3]));
  await agree(t, db, 'likes');
  t.strictSame(await countLikes(graph, [3, 9, 1, 3]), [4, 0, 4, 4], 'in the order of the posts');
  await graph.like(likes([4, 5], [3, 4]));
  await agree(t, db, 'some of them again');
  await graph.unlike(likes([1, 9], [1, 2]));
  await agree(t, db, 'likes taken back, and some that never were');
  await graph.removePerson(4);
  await agree(t, db, 'a person gone');
  await graph.removePost(3);
  await agree(t, db, 'a post gone');
  await graph.inventory.tie({ friendships: [], requests: [], likes: likes([7, 8], [1, 5]) });
  await agree(t, db, 'many at once');
  await graph.inventory.untie({ friendships: [], requests: [], likes: likes([7], [1, 5]) });
  await agree(t, db, 'and fewer');
  t.strictSame(await countLikes(graph, [1, 2, 3, 5]), [3, 2, 0, 1]);
});

t.test('many at once are counted without waiting for each other for ever', async (t) => {
  const { db } = await openTestStores(t);
  const posts = Array.from({ length: 20 }, (_, post) => post + 1);
  const some = (person: number, of: number) => posts.filter((post) => (post * 7 + person) % of === 0);
  const change = (person: number) =>
    db.transaction().execute(async (trx) => {
      const graph = embeddedGraph(trx);
      const likes = (ids: number[]) => ids.map((post) => ({ person, post }));
      await graph.like(likes(some(person, 3)));
      await graph.unlike(likes(some(person, 2)));
      await graph.like(likes(some(person + 1, 4)));
      if (person % 5 === 0) await graph.removePerson(person);
    });
  await Promise.all(Array.from({ length: 40 }, (_, person) => change(person + 1)));
  await agree(t, db, 'afterwards');
});

t.test('likes from before they were counted are counted', async (t) => {
  const { db, close } = await openEmbeddedPostgres(join(await temporaryDirectory(t), 'postgres'), unobserved);
  t.teardown(close);
  const { '0004-like-counts': counts, ...before } = migrations;
  for (const migration of Object.values(before)) await migration.up(db);
  await sql`insert into graph_likes (post_id, person_id) values (1, 1), (1, 2), (7, 1)`.execute(db);
  await db.transaction().execute((trx) => counts?.up(trx) ?? Promise.resolve());
  t.strictSame([...(await counted(db))].toSorted(), [
    [1, 2],
    [7, 1],
  ]);
});
