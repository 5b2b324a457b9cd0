import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { findPostOwners } from '../db/posts.js';
import { canSee } from '../db/visibility.js';
import { findVisiblePost } from '../db/visible-posts.js';
import { createRandom } from '../scripts/seed/random.js';
import { createFixtures, repeat } from './support/store-fixtures.js';
import { openTestStores } from './support/stores.js';

const stores = await openTestStores(t);
const { db, feed, graph, read } = stores;
const { account, post } = createFixtures(stores);

const USER_COUNT = 12;
const POST_COUNT = 60;

const byId = (a: number, b: number) => a - b;

const feedOf = async (viewer: number, limit: number) =>
  (await feed.readFeed(viewer, { limit, offset: 0 })).posts.map(({ post }) => post.id).sort(byId);

const makePrivate = (...ids: number[]) =>
  db.updateTable('accounts').set({ private: true }).where('id', 'in', ids).execute();

t.test('lists show the posts that a user can see singly, for generated users and posts', async (t) => {
  const seed = Number(process.env.SEED ?? randomInt(1, 1_000_000));
  t.comment(`SEED=${seed}`);
  const random = createRandom(seed);
  const users = await repeat(USER_COUNT, account);
  const privateUsers = users.filter(() => random(2) === 0);
  // The id 0, which no account has, keeps the list from being empty.
  await makePrivate(0, ...privateUsers);
  const disabled = db.updateTable('accounts').set({ disabled_at: sql<string>`now()` });
  await disabled.where('id', 'in', [0, ...users.filter(() => random(4) === 0)]).execute();
  const friendsOf = new Map(users.map((user) => [user, new Set<number>()]));
  for (const user of users) {
    for (const other of users.filter((id) => id < user && random(3) === 0)) {
      friendsOf.get(user)?.add(other);
      friendsOf.get(other)?.add(user);
    }
  }
  // One author's account does not exist.
  const authors = [...users, Math.max(...users) + 1000];
  await sql`
    insert into posts (author_id, title, text)
    select (${authors}::int8[])[1 + n % ${authors.length}::int], 'title', 'text'
    from generate_series(1, ${POST_COUNT}::int) as n`.execute(db);
  const ids = (await db.selectFrom('posts').select('id').execute()).map(({ id }) => id);
  const owners = await findPostOwners(db, ids);
  const edges = [...friendsOf].flatMap(([person, friends]) => [...friends].map((friend) => ({ person, friend })));
  await graph.bulk.addEdges({ friendships: edges, requests: [], likes: [] });

  for (const [viewer, friends] of friendsOf) {
    const findFriends = async () => friends;
    const visible: number[] = [];
    for (const id of ids) if (await canSee(viewer, owners.get(id), findFriends)) visible.push(id);
    // A page of this size is read from the window, and one of a hundred posts by a scan.
    const [fromWindow, fromScan] = [await feedOf(viewer, POST_COUNT), await feedOf(viewer, 100)];
    t.same(fromWindow, visible.sort(byId), 'the window of the feed');
    t.same(fromScan, visible, 'a scan of the feed');
  }
});

t.test('a private post is hidden if the friendship ends before its content is read', async (t) => {
  const [author, friend] = [await account(), await account()];
  await makePrivate(author);
  const id = await post(author);
  await graph.request(friend, author);
  await graph.accept(author, friend);
  t.equal((await findVisiblePost(read, friend, id))?.post.id, id);
  const unfriendFirst = {
    ...read,
    async posts(ids: readonly number[]) {
      await graph.unfriend(author, friend);
      return read.posts(ids);
    },
  };
  t.equal(await findVisiblePost(unfriendFirst, friend, id), undefined);
});
