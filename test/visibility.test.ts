import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { createAccount } from '../db/accounts.js';
import { findDeepIds } from '../db/deep-pages.js';
import { newestIds, postsPublicOrBy } from '../db/feed.js';
import { findPostOwners, findPostsPublicOrOwn } from '../db/posts.js';
import { canSee, isPublicOrOwn } from '../db/visibility.js';
import { createRandom } from '../scripts/seed/random.js';
import { openTestStores } from './support/stores.js';

const { db, graph } = await openTestStores(t);

const USER_COUNT = 12;
const POST_COUNT = 60;
const PAGE = { limit: POST_COUNT + 1, offset: 0 };

const byId = (a: number, b: number) => a - b;

t.test('the rule in TypeScript and the rule in SQL agree for a generated population', async (t) => {
  const seed = Number(process.env.SEED ?? randomInt(1, 1_000_000));
  t.comment(`SEED=${seed}`);
  const random = createRandom(seed);
  const users: number[] = [];
  for (let n = 0; n < USER_COUNT; n += 1) {
    const name = `visibility${n}`;
    const account = await createAccount(
      { db, graph },
      {
        name,
        username: name,
        email: `${name}@example.org`,
        passwordHash: 'none',
      },
    );
    if (account.outcome === 'created') users.push(account.id);
  }
  const privateUsers = users.filter(() => random(2) === 0);
  await db
    .updateTable('accounts')
    .set({ private: true })
    .where('id', 'in', [0, ...privateUsers])
    .execute();
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
  const newest = await newestIds(db, PAGE.limit);

  for (const [viewer, friends] of friendsOf) {
    const allowed = [viewer, ...friends];
    const findFriends = async () => friends;
    const visible: number[] = [];
    for (const id of ids) if (await canSee(viewer, owners.get(id), findFriends)) visible.push(id);
    const inWindow = newest.ids.filter((_, index) => {
      const author = newest.privateAuthorIds[index] ?? null;
      return author === null || allowed.includes(author);
    });
    const page = (await postsPublicOrBy(db, allowed, PAGE)).map(({ id }) => id);
    const deep = await findDeepIds(db, { publicOrBy: allowed }, PAGE);
    const single = await findPostsPublicOrOwn(
      db,
      ids.map((id) => ({ id, viewer })),
    );

    t.same([...inWindow].sort(byId), visible.sort(byId), 'the window of ids');
    t.same([...page].sort(byId), visible, 'the query of a page');
    t.same([...deep].sort(byId), visible, 'the scan of deep pages');
    t.same(
      single.flatMap((found) => (found?.post ? [found.post.id] : [])).sort(byId),
      visible.filter((id) => isPublicOrOwn(viewer, owners.get(id) ?? { id: 0, private: true })),
      'the query of a single post',
    );
  }
});
