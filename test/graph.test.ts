import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { changeFriendship } from '../db/friendships.js';
import { tableGraph } from '../db/graph/tables.js';
import type { Database, DatabaseTransaction } from '../db/postgres/index.js';
import { migrations } from '../db/postgres/migrations/index.js';
import { noopObserver } from '../db/support/observer.js';
import { createWriters } from '../db/writers.js';
import { countLikes } from './support/consistency.js';
import { befriend, createPost, startTestService } from './support/service.js';
import { freshStores, openTestStores } from './support/stores.js';

const service = await startTestService(t);
const { db, graph } = service.stores;

t.test('lists omit deleted accounts before the graph is updated; requests from or to them return 404', async (t) => {
  const user = await service.createUser();
  const [deletedFriend, remainingFriend] = [await service.createUser(), await service.createUser()];
  const [deletedRequester, requester] = [await service.createUser(), await service.createUser()];
  for (const other of [deletedFriend, remainingFriend]) await befriend(user, other);
  for (const other of [deletedRequester, requester]) await other.send('POST', `/friends/request?to=${user.id}`);
  await db.deleteFrom('accounts').where('id', 'in', [deletedFriend.id, deletedRequester.id]).execute();
  t.equal((await user.send('POST', `/friends/accept?from=${deletedRequester.id}`)).status, 404);
  t.equal((await user.send('POST', `/friends/request?to=${deletedFriend.id}`)).status, 404);
  const idsIn = async (path: string) => (await user.send('GET', path)).body.map(({ id }: { id: number }) => id);
  t.same(await idsIn('/friends'), [remainingFriend.id]);
  t.same(await idsIn('/friends/requests'), [requester.id]);
});

t.test('a friendship change reports whether the user’s own account or the other one is missing', async (t) => {
  const { id } = await service.createUser();
  const deleted = 999_999;
  for (const transition of ['accept', 'decline', 'cancel', 'unfriend'] as const) {
    t.equal(await changeFriendship(service.stores, transition, deleted, id), 'accountDeleted', transition);
    t.equal(await changeFriendship(service.stores, transition, id, deleted), 'notFound', transition);
  }
});

t.test('the list of friends omits a friend whose friendship ends before the profile is read', async (t) => {
  const [user, friend] = [await service.createUser(), await service.createUser({ private: true })];
  await befriend(user, friend);
  const { read } = service.context;
  const { account } = read;
  t.intercept(read, 'account', {
    async value(id: number) {
      await graph.unfriend(user.id, friend.id);
      return account(id);
    },
  });
  t.same((await user.send('GET', '/friends')).body, []);
});

t.test('a post without a node in the graph can be liked, even without an author', async (t) => {
  const [user, other] = [await service.createUser(), await service.createUser()];
  const countLikesOf = async (id: number) => (await other.send('GET', `/posts/${id}`)).body.like_count;
  const { rows } = await sql<{ id: number }>`
    insert into posts (author_id, title, text) values (${user.id}, 'Old', 'From before there were likes'), (999999, 'O', 'P')
    returning id`.execute(db);
  for (const { id } of rows) {
    t.equal(await countLikesOf(id), 0);
    t.equal((await other.send('POST', `/posts/like?id=${id}`)).status, 200);
    t.equal(await countLikesOf(id), 1);
    t.equal((await other.send('DELETE', `/posts/like?id=${id}`)).status, 200);
    t.equal(await countLikesOf(id), 0);
  }
});

t.test('deleting a post removes its likes, and a rejected like leaves nothing in the graph', async (t) => {
  const [owner, stranger] = [await service.createUser({ private: true }), await service.createUser()];
  const [hidden, deleted] = [await createPost(owner), await createPost(owner)];
  await owner.send('POST', `/posts/like?id=${deleted.id}`);
  t.same(await countLikes(graph, [deleted.id]), [1]);
  await owner.send('DELETE', `/posts/delete?id=${deleted.id}`);
  const ids = [hidden.id, deleted.id, 9007199254740991];
  for (const id of ids) t.equal((await stranger.send('POST', `/posts/like?id=${id}`)).status, 404);
  t.same(await countLikes(graph, ids), [0, 0, 0]);
});

t.test('a batch of likes locks a limited number of accounts and posts', async (t) => {
  const { id: user } = await service.createUser();
  const sizes: number[] = [];
  const { setLike } = createWriters(service.stores, { ...noopObserver, batch: (_, size) => sizes.push(size) });
  await Promise.all(Array.from({ length: 250 }, (_, index) => setLike({ user, post: 1e9 + index, liked: true })));
  t.ok(Math.max(...sizes) <= 100, `batches of ${sizes}`);
});

/** Ids above those of all accounts and posts. */
const FIRST_ID = 8_000_000_000_000_000;
const highIds = (...numbers: number[]) => numbers.map((number) => FIRST_ID + number);
const likesOf = (people: number[], posts: number[]) =>
  people.flatMap((person) => posts.map((post) => ({ person, post })));

/** Expects the stored like counts to equal the numbers of likes. */
async function expectCountsAgree(t: Test, db: Database | DatabaseTransaction, message: string) {
  const { rows: stored } = await sql`select post_id, likes from graph_like_counts order by 1`.execute(db);
  const { rows: counted } = await sql`
    select post_id, count(*) as likes from graph_likes group by 1 order by 1`.execute(db);
  t.same(stored, counted, message);
}

t.test('the graph in tables keeps like counts up to date through every change', async (t) => {
  const graph = tableGraph(db);
  const noEdges = { friendships: [], requests: [] };
  const changes: [what: string, change: () => Promise<unknown>][] = [
    ['likes', () => graph.like(likesOf(highIds(1, 2, 3, 4), highIds(1, 2, 3)))],
    ['some of them again', () => graph.like(likesOf(highIds(4, 5), highIds(3, 4)))],
    ['unlikes, some of them without a like', () => graph.unlike(likesOf(highIds(1, 9), highIds(1, 2)))],
    ['a removed user', () => graph.removePerson(FIRST_ID + 4)],
    ['a removed post', () => graph.removePost(FIRST_ID + 3)],
    ['many likes', () => graph.bulk.addEdges({ ...noEdges, likes: likesOf(highIds(7, 8), highIds(1, 5)) })],
    ['fewer likes', () => graph.unlike(likesOf(highIds(7), highIds(1, 5)))],
  ];
  for (const [what, change] of changes) {
    await change();
    await expectCountsAgree(t, db, what);
  }
  t.same(await countLikes(graph, highIds(5, 9, 1, 2, 3, 5)), [1, 0, 3, 2, 0, 1], 'in the order of the posts');
});

t.test('transactions that change likes of the same posts do not deadlock', async (t) => {
  const posts = highIds(...Array.from({ length: 20 }, (_, post) => 100 + post));
  const some = (person: number, of: number) => posts.filter((post) => (post * 7 + person) % of === 0);
  const change = (person: number) =>
    db.transaction().execute(async (trx) => {
      const graph = tableGraph(trx);
      await graph.like(likesOf([person], some(person, 3)));
      await graph.unlike(likesOf([person], some(person, 2)));
      await graph.like(likesOf([person], some(person + 1, 4)));
      if (person % 5 === 0) await graph.removePerson(person);
    });
  await Promise.all(highIds(...Array.from({ length: 40 }, (_, person) => 100 + person)).map(change));
  await expectCountsAgree(t, db, 'afterwards');
});

t.test('after a start, new accounts and posts do not get ids that the graph contains', async (t) => {
  const nextIds = async (db: Database) => {
    const { rows } = await sql<{ person: number; post: number }>`
      select nextval('accounts_id_seq') as person, nextval('posts_id_seq') as post`.execute(db);
    return rows[0] ?? { person: 0, post: 0 };
  };
  const environment = await freshStores(t);
  const older = await openTestStores(t, environment);
  const { person, post } = await nextIds(older.db);
  // The graph has ids above those of PostgreSQL, as after PostgreSQL was restored from an older backup.
  const like = { person: person + 1000, post: post + 2000 };
  await older.graph.like([like]);
  await older.close();
  const next = await nextIds((await openTestStores(t, environment)).db);
  t.ok(next.person > like.person && next.post > like.post, `${next.person}, ${next.post}`);
});

t.test('the migration counts existing likes', async (t) => {
  const { '0004-like-counts': addCounts, ...others } = migrations;
  await db.transaction().execute(async (trx) => {
    await sql`create schema before_counts`.execute(trx);
    await sql`set local search_path to before_counts`.execute(trx);
    for (const migration of Object.values(others)) await migration.up(trx);
    await sql`insert into graph_likes (post_id, person_id) values (1, 1), (1, 2), (7, 1)`.execute(trx);
    await addCounts?.up(trx);
    await expectCountsAgree(t, trx, 'in a separate schema');
    t.same(await trx.selectFrom('graph_like_counts').selectAll().orderBy('post_id').execute(), [
      { post_id: 1, likes: 2 },
      { post_id: 7, likes: 1 },
    ]);
    await sql`drop schema before_counts cascade`.execute(trx);
  });
});
