import { setImmediate as nextIteration } from 'node:timers/promises';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { readFeed, WIDE_WINDOW_POSTS, WINDOW_POSTS } from '../db/feed.js';
import { createReaders } from '../db/readers.js';
import { noopObserver } from '../db/support/observer.js';
import type { TestResponse } from './support/requests.js';
import { befriend, createPost, startTestService, type TestUser } from './support/service.js';
import { recordStatements } from './support/statements.js';

/* The feed within and beyond its windows, with more posts than the contract tests create. */

const service = await startTestService(t);
const { db } = service.stores;

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

/** Expects correct pages of several sizes. They end at or next to the ends of the windows and of the feed. */
async function expectPages(t: Test, viewer: TestUser, expected: readonly number[], description: string): Promise<void> {
  const ends = [WINDOW_POSTS, WIDE_WINDOW_POSTS, expected.length].flatMap((end) => [end - 1, end, end + 1]);
  for (const limit of [1, 20, 100]) {
    const offsets = [limit, ...ends].map((end) => end - limit).filter((offset) => offset <= expected.length);
    for (const offset of new Set(offsets.filter((offset) => offset >= 0))) {
      const end = offset + limit;
      service.stores.windowShortfalls.clear();
      const page = await viewer.send('GET', `/posts?limit=${limit}&offset=${offset}`);
      t.strictSame(
        { ids: idsIn(page), link: page.headers.get('link') },
        {
          ids: expected.slice(offset, end),
          link: end < expected.length ? `</posts?limit=${limit}&offset=${end}>; rel="next"` : null,
        },
        `${description}: limit ${limit}, offset ${offset} of ${expected.length}`,
      );
    }
  }
}

async function followAll(viewer: TestUser, start: string): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = start; next; ) {
    const page: TestResponse = await viewer.send('GET', next);
    ids.push(...idsIn(page));
    next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return ids;
}

t.test('each page of a feed of any length has its posts, with likes, and links to the next', async (t) => {
  await emptyFeed();
  const [viewer, ...authors] = (await createUsers(3)) as [TestUser, TestUser, TestUser];
  let length = 0;
  for (const next of [0, 1, 20, WINDOW_POSTS, WINDOW_POSTS + 1, WIDE_WINDOW_POSTS, WIDE_WINDOW_POSTS + 60]) {
    await seed(authors, next - length);
    length = next;
    await expectPages(t, viewer, await expectedFeed(authors), 'a stranger');
  }

  const ids = await expectedFeed(authors);
  const liked = [5, WINDOW_POSTS + 5, WIDE_WINDOW_POSTS + 5].map((index) => ids[index]);
  for (const id of liked) await viewer.send('POST', `/posts/like?id=${id}`);
  for (const offset of [0, WINDOW_POSTS, WIDE_WINDOW_POSTS]) {
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

t.test('own posts of the same instant are ordered by their ids', async (t) => {
  await emptyFeed();
  const authors = await createUsers(2);
  await seed(authors, 90);
  for (const author of authors) {
    t.strictSame(await followAll(author, '/posts/me?limit=7'), await expectedFeed([author]));
  }
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

for (const hidden of [WINDOW_POSTS + 20, WIDE_WINDOW_POSTS - 100, WIDE_WINDOW_POSTS + 20]) {
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

t.test('if nearly all posts are hidden, concurrent users share the scan for public posts', async (t) => {
  await emptyFeed();
  const [[hidden], viewers] = [await createUsers(1, { private: true }), await createUsers(12)];
  await seed(viewers.slice(0, 1), 1);
  await seed([hidden as TestUser], WIDE_WINDOW_POSTS + 1);
  const expected = await expectedFeed(viewers);
  const statements = recordStatements(t);
  const pages = await Promise.all(viewers.map((viewer) => viewer.send('GET', '/posts')));
  for (const page of pages) t.same(idsIn(page), expected);
  t.ok(statements.filter(({ text }) => text.includes(') slice')).length < viewers.length);
});

t.test(
  'a viewer skips the window after it was too small, except for smaller pages; the window looks up no friendships',
  async (t) => {
    await emptyFeed();
    const [[hidden], [viewer]] = [await createUsers(1, { private: true }), await createUsers(1)];
    await seed([hidden as TestUser], WINDOW_POSTS);
    const batches: string[] = [];
    const read = createReaders(service.stores, { ...noopObserver, batch: (name) => void batches.push(name) }, false);
    const stores = { ...service.stores, read };
    for (const [limit, usesWindow] of [
      [19, true],
      [19, true],
      [20, true],
      [20, false],
      [21, false],
      [19, true],
    ] as const) {
      await readFeed(stores, (viewer as TestUser).id, { limit, offset: 0 });
      const ofWindow = batches.slice(0, batches.indexOf('friendsOf'));
      t.same(ofWindow, usesWindow ? ['newestPosts'] : [], `limit ${limit}`);
      batches.length = 0;
    }
  },
);

t.test('only one scan for public posts runs at a time', async (t) => {
  const sizes: number[] = [];
  const observer = { ...noopObserver, batch: (_: string, size: number) => void sizes.push(size) };
  const { newestPublicIds } = createReaders(service.stores, observer, false);
  const scans: Promise<unknown>[] = [];
  await db.transaction().execute(async (trx) => {
    await sql`lock table posts`.execute(trx);
    for (let count = 0; count < 3; count += 1) {
      scans.push(newestPublicIds(1));
      await nextIteration();
    }
  });
  await Promise.all(scans);
  t.same(sizes, [1, 2]);
});

t.test('a post that is deleted between two queries of a page does not end the feed', async (t) => {
  await emptyFeed();
  const [[hidden], [publicUser, viewer]] = [await createUsers(1, { private: true }), await createUsers(2)];
  await seed([publicUser as TestUser], 25);
  await seed([hidden as TestUser], WIDE_WINDOW_POSTS);
  const { read } = service.stores;
  const newestPublicIds = async (count: number) => {
    const ids = await read.newestPublicIds(count);
    await db.deleteFrom('posts').where('id', '=', Number(ids[0])).execute();
    return ids;
  };
  const stores = { ...service.stores, read: { ...read, newestPublicIds } };
  const { more } = await readFeed(stores, (viewer as TestUser).id, { limit: 20, offset: 0 });
  t.ok(more, 'five posts are left');
});

t.test('concurrent users who read pages of different sizes each get a full page', async (t) => {
  await emptyFeed();
  const [viewer, author] = (await createUsers(2)) as [TestUser, TestUser];
  await seed([author], 90);
  const expected = await expectedFeed([author]);
  const limits = [1, 5, 30, 20];
  // Calls of the same turn share a batch.
  const pages = await Promise.all(limits.map((limit) => readFeed(service.stores, viewer.id, { limit, offset: 0 })));
  for (const [index, limit] of limits.entries()) {
    const ids = pages[index]?.posts.map(({ post }) => post.id);
    t.strictSame({ ids, more: pages[index]?.more }, { ids: expected.slice(0, limit), more: true }, `limit ${limit}`);
  }
});

t.test('friendships are read after the posts: a post created after a friendship has ended is hidden', async (t) => {
  await emptyFeed();
  const { read } = service.stores;
  const [author, another] = (await createUsers(2, { private: true })) as [TestUser, TestUser];
  const friend = await service.createUser();
  const endFriendship = async () => {
    await author.send('DELETE', `/friends/remove?id=${friend.id}`);
    return createPost(author, { title: 'Secret' });
  };
  // The friendship ends, and the secret post is created, immediately before the posts are read.
  const byRows = { ...read, newestPosts: (count: number) => endFriendship().then(() => read.newestPosts(count)) };
  // The friendship ends immediately after the friends have been read for the `times`th time. The first of these reads is
  // concurrent with that of the ids. With 1, the read of the ids waits for the end of the friendship.
  const onceFriendsAreRead = (times: number) => {
    let left = times;
    let resume = () => {};
    const ended = new Promise<void>((resolve) => {
      resume = resolve;
    });
    return {
      ...read,
      async friendsOf(user: number) {
        const friends = await read.friendsOf(user);
        left -= 1;
        if (left === 0) await endFriendship().then(resume);
        return friends;
      },
      newestIds: (count: number) => (times === 1 ? ended : Promise.resolve()).then(() => read.newestIds(count)),
    };
  };
  for (const [path, readers, limit, hidden] of [
    ['by the window of rows', byRows, 20, 0],
    ['by the window of ids', onceFriendsAreRead(1), WINDOW_POSTS, 0],
    ['by the viewer’s own query', onceFriendsAreRead(2), 20, WIDE_WINDOW_POSTS],
  ] as const) {
    await befriend(friend, author);
    const shared = await createPost(author);
    if (hidden > 0) await seed([another], hidden, 'after now');
    const shown = () => friend.send('GET', `/posts?limit=${limit}`);
    t.equal(idsIn(await shown())[0], shared.id, 'a friend sees a private post');
    const { posts } = await readFeed({ ...service.stores, db, read: readers }, friend.id, { limit, offset: 0 });
    t.strictSame(posts, [], path);
    t.strictSame(idsIn(await shown()), [], `${path}: and afterwards`);
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
