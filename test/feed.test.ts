import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { createFeed, SLICE_POSTS, WINDOW_POSTS } from '../db/feed.js';
import type { RelationsQuery } from '../db/relations.js';
import { noopObserver } from '../db/support/observer.js';
import { encodeCursor } from '../handlers/cursors.js';
import { createRandom } from '../scripts/seed/random.js';
import { nextPagePath, type TestResponse } from './support/http.js';
import { befriend, createPost, startTestService, type TestUser } from './support/service.js';
import { recordStatements } from './support/statements.js';

/* Pages within and beyond the window and the first slice, with more posts than the contract tests create. */

const service = await startTestService(t);
const { db, feed } = service.stores;

const createUsers = (count: number, overrides: { private?: boolean } = {}) =>
  Promise.all(Array.from({ length: count }, () => service.createUser(overrides)));
const idsIn = ({ body }: TestResponse): number[] => body.map(({ id }: { id: number }) => id);

async function emptyFeed(): Promise<void> {
  await sql`truncate posts`.execute(db);
}

/**
 * Inserts posts that alternate between these authors, oldest first. Three share each instant, so that ids decide their order.
 * They are newer than posts that were inserted before and, with `after now`, than posts that the service has created.
 */
async function seed(authors: readonly TestUser[], count: number, when?: 'after now'): Promise<void> {
  const first = when ? sql`clock_timestamp()` : sql`timestamptz '2026-01-01'`;
  const ids = authors.map(({ id }) => id);
  await sql`
    insert into posts (author_id, title, text, created_at)
    select (${ids}::int8[])[1 + n % ${ids.length}::int], 'post ' || n, 'text',
      ${first} + ((select count(*) from posts) + n / 3) * interval '1 second'
    from generate_series(0, ${count - 1}::int) as n`.execute(db);
}

/** Returns the ids of all posts by these authors in the order of the feed. */
async function expectedFeed(authors: readonly TestUser[]): Promise<number[]> {
  const rows = await db.selectFrom('posts').select(['id', 'author_id', 'created_at']).execute();
  return rows
    .filter(({ author_id }) => authors.some(({ id }) => id === author_id))
    .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.id - a.id)
    .map(({ id }) => id);
}

/**
 * Expects correct pages of several sizes, by offset and by cursor. They end at or next to the ends of the window, of slices and
 * of the list.
 */
async function expectPages(
  t: Test,
  viewer: TestUser,
  expected: readonly number[],
  description: string,
  path = '/posts',
): Promise<void> {
  const ends = [WINDOW_POSTS, SLICE_POSTS, 2 * SLICE_POSTS, expected.length].flatMap((end) => [end - 1, end, end + 1]);
  const rows = await db.selectFrom('posts').select(['id', 'created_at']).execute();
  const times = new Map(rows.map(({ id, created_at }) => [id, created_at]));
  const cursorOf = (id = 0) => encodeCursor({ createdAt: times.get(id) ?? '', id });
  for (const limit of [1, 20, 100]) {
    const offsets = [limit, ...ends].map((end) => end - limit).filter((offset) => offset <= expected.length);
    for (const offset of new Set(offsets.filter((offset) => offset >= 0))) {
      const end = offset + limit;
      const ids = expected.slice(offset, end);
      const expectPage = async (start: string, next: string) => {
        const page = await viewer.send('GET', `${path}?limit=${limit}${start}`);
        const link = end < expected.length ? `<${path}?limit=${limit}${next}>; rel="next"` : null;
        t.strictSame(
          { ids: idsIn(page), link: page.headers.get('link') },
          { ids, link },
          `${description}: limit ${limit}${start} of ${expected.length}`,
        );
      };
      await expectPage(`&offset=${offset}`, `&offset=${end}`);
      const start = offset === 0 ? '' : `&cursor=${cursorOf(expected[offset - 1])}`;
      await expectPage(start, `&cursor=${cursorOf(ids.at(-1))}`);
    }
  }
}

async function followAll(viewer: TestUser, start: string): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = start; next; ) {
    const page: TestResponse = await viewer.send('GET', next);
    ids.push(...idsIn(page));
    next = nextPagePath(page.headers);
  }
  return ids;
}

t.test('each page of a feed of any length has its posts, with likes, and links to the next', async (t) => {
  await emptyFeed();
  const [viewer, ...authors] = (await createUsers(3)) as [TestUser, TestUser, TestUser];
  let length = 0;
  for (const next of [0, 1, 20, WINDOW_POSTS, WINDOW_POSTS + 1, SLICE_POSTS, 2 * SLICE_POSTS + 60]) {
    await seed(authors, next - length);
    length = next;
    await expectPages(t, viewer, await expectedFeed(authors), 'a stranger');
  }

  const ids = await expectedFeed(authors);
  const liked = [5, WINDOW_POSTS + 5, SLICE_POSTS + 5].map((index) => ids[index]);
  for (const id of liked) await viewer.send('POST', `/posts/like?id=${id}`);
  for (const offset of [0, WINDOW_POSTS, SLICE_POSTS]) {
    for (const [user, mine] of [[viewer, true] as const, [authors[0], false] as const]) {
      const { body } = await user.send('GET', `/posts?offset=${offset}`);
      t.strictSame(
        body.map(({ like_count, liked_by_me }: Record<string, unknown>) => [like_count, liked_by_me]),
        ids.slice(offset, offset + 20).map((id) => (liked.includes(id) ? [1, mine] : [0, false])),
        `likes from offset ${offset}`,
      );
    }
  }
});

t.test('pages of own posts are correct, even if posts of the same instant are divided between pages', async (t) => {
  await emptyFeed();
  const authors = (await createUsers(2)) as [TestUser, TestUser];
  await seed(authors, 2 * SLICE_POSTS + 60);
  await expectPages(t, authors[0], await expectedFeed(authors.slice(0, 1)), 'own posts', '/posts/me');
  t.strictSame(await followAll(authors[1], '/posts/me?limit=100'), await expectedFeed(authors.slice(1)));
});

t.test('with mostly private authors, each user gets every visible post once and in order', async (t) => {
  await emptyFeed();
  const [publicUser, stranger, friend] = (await createUsers(3)) as [TestUser, TestUser, TestUser];
  const privateUsers = await createUsers(11, { private: true });
  const [owner, one, other] = privateUsers as [TestUser, TestUser, TestUser];
  await befriend(friend, one);
  await befriend(other, friend);
  await befriend(one, other);
  await friend.send('POST', `/friends/request?to=${owner.id}`);
  await seed([publicUser, ...privateUsers], 360);

  const viewers: [who: string, viewer: TestUser, sees: TestUser[]][] = [
    ['a stranger', stranger, [publicUser]],
    ['a friend of two, with a request to a third', friend, [publicUser, one, other]],
    ['a private author', owner, [publicUser, owner]],
    ['a private author with a friend', one, [publicUser, one, other]],
  ];
  for (const [description, viewer, sees] of viewers) {
    const expected = await expectedFeed(sees);
    t.equal(expected.length, 30 * sees.length, `${description} sees ${expected.length}`);
    await expectPages(t, viewer, expected, description);
    for (const limit of [3, 20]) {
      const followed = await followAll(viewer, `/posts?limit=${limit}`);
      t.strictSame(followed, expected, `${description}, following pages of ${limit}`);
    }
  }
});

for (const hidden of [WINDOW_POSTS + 20, SLICE_POSTS - 100, SLICE_POSTS + 20]) {
  t.test(`${hidden} hidden posts do not end the feed`, async (t) => {
    await emptyFeed();
    const [publicUser, stranger] = (await createUsers(2)) as [TestUser, TestUser];
    const privateUser = await service.createUser({ private: true });
    await seed([publicUser], 30);
    await seed([privateUser], hidden);
    await expectPages(t, stranger, await expectedFeed([publicUser]), 'a stranger');
    await expectPages(t, privateUser, await expectedFeed([publicUser, privateUser]), 'the author');

    // The visible posts that are newer than the hidden ones: one fewer than a page, exactly a page, and one more.
    for (const extra of [19, 1, 1]) {
      await seed([publicUser], extra);
      const followed = await followAll(stranger, '/posts?limit=20');
      t.strictSame(followed, await expectedFeed([publicUser]), `after ${extra} more`);
    }
  });
}

t.test('if most posts are hidden, concurrent users share the first slice', async (t) => {
  await emptyFeed();
  const [[hidden], viewers] = [await createUsers(1, { private: true }), await createUsers(12)];
  await seed(viewers.slice(0, 1), 1);
  await seed([hidden as TestUser], SLICE_POSTS - 2);
  const expected = await expectedFeed(viewers);
  const statements = recordStatements(t);
  const pages = await Promise.all(viewers.map((viewer) => viewer.send('GET', '/posts')));
  for (const page of pages) t.same(idsIn(page), expected);
  const slices = statements.filter(({ text }) => text.includes('as "slice"')).length;
  t.ok(slices > 0 && slices < viewers.length);
});

t.test('concurrent users who read pages of different sizes each get a full page', async (t) => {
  await emptyFeed();
  const [viewer, author] = (await createUsers(2)) as [TestUser, TestUser];
  await seed([author], 90);
  const expected = await expectedFeed([author]);
  const limits = [1, 5, 30, 20];
  // Calls of the same turn share a batch.
  const pages = await Promise.all(limits.map((limit) => feed.readFeed(viewer.id, { limit, offset: 0 })));
  for (const [index, limit] of limits.entries()) {
    const ids = pages[index]?.posts.map(({ post }) => post.id);
    t.strictSame({ ids, more: pages[index]?.more }, { ids: expected.slice(0, limit), more: true }, `limit ${limit}`);
  }
});

t.test('friendships are read after the posts: a post created after a friendship has ended is hidden', async (t) => {
  await emptyFeed();
  const { read } = service.stores;
  const [author, other] = (await createUsers(2, { private: true })) as [TestUser, TestUser];
  const friend = await service.createUser();
  const after = { createdAt: '9999-12-31T00:00:00.000Z', id: 1 };
  for (const [path, lookup, page] of [
    ['the shared window', 'relations', { limit: 20, offset: 0 }],
    ['the window after a cursor', 'relations', { limit: 20, offset: 0, after }],
    ['a scan', 'relations', { limit: WINDOW_POSTS, offset: 0 }],
    ['a scan, after the friends are read', 'friendsOf', { limit: WINDOW_POSTS, offset: 0 }],
    ['a scan whose whole page is hidden meanwhile', 'friendsOf', { limit: 1, offset: 0 }],
    ['a scan after a cursor', 'friendsOf', { limit: WINDOW_POSTS, offset: 0, after }],
  ] as const) {
    await emptyFeed();
    await befriend(friend, author);
    await seed([friend], 2);
    await createPost(author, { title: 'Shared' });
    // The author's newest post is not in the window of a page with one post.
    if (page.limit === 1) await seed([other], WINDOW_POSTS, 'after now');
    let isEnded = false;
    // Immediately after the first lookup, the friendship ends, and the author creates another post.
    const endFriendshipAfter = async <Result>(lookedUp: Promise<Result>): Promise<Result> => {
      const result = await lookedUp;
      if (isEnded) return result;
      isEnded = true;
      await author.send('DELETE', `/friends/remove?id=${friend.id}`);
      await createPost(author, { title: 'Secret' });
      return result;
    };
    const lookups = {
      relations: (query: RelationsQuery) => endFriendshipAfter(read.relations(query)),
      friendsOf: (id: number) => endFriendshipAfter(read.friendsOf(id)),
    };
    const { readFeed } = createFeed({ db, read: { ...read, [lookup]: lookups[lookup] } }, noopObserver);
    const { posts } = await readFeed(friend.id, page);
    t.ok(isEnded);
    t.notMatch(JSON.stringify(posts), /Secret/, path);
    t.ok(posts.length > 0, `${path}: the page is not empty`);
  }
});

/** Follows `Link` from a page to the last one, with pages of random sizes. Returns the ids of all posts. */
async function walk(viewer: TestUser, path: string, random: (below: number) => number): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = `${path}?limit=20`; next; ) {
    const url = next.replace(/limit=\d+/, `limit=${[1, 7, 20, 100][random(4)]}`);
    const page: TestResponse = await viewer.send('GET', url);
    t.equal(page.status, 200);
    ids.push(...idsIn(page));
    next = nextPagePath(page.headers);
  }
  return ids;
}

t.test('while posts are created and deleted, a walk by Link has each other post exactly once', async (t) => {
  const seedNumber = Number(process.env.SEED ?? randomInt(1, 1_000_000));
  t.comment(`SEED=${seedNumber}`);
  const random = createRandom(seedNumber);
  await emptyFeed();
  const [author, viewer] = (await createUsers(2)) as [TestUser, TestUser];
  const [friend, hidden] = (await createUsers(2, { private: true })) as [TestUser, TestUser];
  await befriend(viewer, friend);
  await seed([author, friend, hidden, hidden], 900);
  const visible = await expectedFeed([author, friend]);
  // The posts that are deleted during a walk. Half of them are next to each other, as in an account that is deleted.
  const toDelete = visible.filter((_, index) => (index > 200 && index < 300) || random(3) === 0);
  const kept = new Set(visible.filter((id) => !toDelete.includes(id)));
  let isWalking = true;
  const change = async () => {
    while (isWalking) {
      await seed([author, friend, hidden], 1 + random(5), 'after now');
      const [id] = toDelete.splice(random(toDelete.length), 1);
      if (id !== undefined) await db.deleteFrom('posts').where('id', '=', id).execute();
    }
  };
  const changing = change();
  const walks = await Promise.all([
    walk(viewer, '/posts', random),
    walk(viewer, '/posts', random),
    walk(author, '/posts/me', random),
  ]);
  isWalking = false;
  await changing;
  const own = new Set((await expectedFeed([author])).filter((id) => kept.has(id)));
  for (const [index, ids] of walks.entries()) {
    const expected = index === 2 ? own : kept;
    t.equal(new Set(ids).size, ids.length, 'no post is repeated');
    t.strictSame(
      ids.filter((id) => expected.has(id)),
      [...expected],
      'each post that existed throughout is there, in order',
    );
  }
});

t.test('a post whose author row is missing is visible to every user, without a username', async (t) => {
  await emptyFeed();
  const [viewer, other, deleted] = (await createUsers(3)) as [TestUser, TestUser, TestUser];
  const privateUser = await service.createUser({ private: true });
  await seed([deleted, privateUser, other], WINDOW_POSTS + 20);
  await db.deleteFrom('accounts').where('id', 'in', [deleted.id, privateUser.id]).execute();
  t.strictSame(await followAll(viewer, '/posts?limit=50'), await expectedFeed([deleted, privateUser, other]));

  for (const offset of [0, WINDOW_POSTS + 10]) {
    const { body } = await viewer.send('GET', `/posts?limit=3&offset=${offset}`);
    t.equal(new Set(body.map(({ author_id }: { author_id: number }) => author_id)).size, 3);
    for (const post of body) {
      t.equal(post.author_username, post.author_id === other.id ? other.username : null);
      const single = await viewer.send('GET', `/posts/${post.id}`);
      t.strictSame([single.status, single.body], [200, { ...post, comments: [] }], 'the single post is the same');
    }
  }
});
