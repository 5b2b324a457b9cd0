import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { readFeed } from '../db/feed.js';
import { WIDE_WINDOW, WINDOW } from '../db/readers.js';
import { type Answer, befriend, type Person, startTestService, writePost } from './harness.js';

const service = await startTestService(t);
const { db } = service.stores;

const people = (count: number, overrides: { private?: boolean } = {}) =>
  Promise.all(Array.from({ length: count }, () => service.person(overrides)));
const hide = (author: Person, value: boolean) =>
  author.ask('PUT', '/profiles/me', { form: { private: String(value) } });
const idsIn = ({ body }: Answer): number[] => body.map(({ id }: { id: number }) => id);

/** A feed of its own for each test: nobody has posted yet. */
async function emptyFeed(): Promise<void> {
  await sql`truncate posts`.execute(db);
}

/** Posts by these authors in turn, the oldest first. Three share each instant, so that the id decides among them. */
async function seed(authors: readonly Person[], count: number, when?: 'after now'): Promise<void> {
  const first = when ? sql`clock_timestamp()` : sql`timestamptz '2026-01-01'`;
  const ids = authors.map(({ id }) => id);
  await sql`
    insert into posts (author_id, title, text, created_at)
    select (${ids}::int8[])[1 + n % ${ids.length}::int], 'post ' || n, 'text',
      ${first} + coalesce((select count(*) from posts), 0) * interval '1 second'
        + (n / 3) * interval '1 second'
    from generate_series(0, ${count - 1}::int) as n`.execute(db);
}

/** The ids of all posts by these authors, as the feed has to list them. */
async function expectedFeed(authors: readonly Person[]): Promise<number[]> {
  const rows = await db.selectFrom('posts').select(['id', 'author_id', 'created_at']).execute();
  return rows
    .filter(({ author_id }) => authors.some(({ id }) => id === author_id))
    .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.id - a.id)
    .map(({ id }) => id);
}

const LIMITS = [1, 19, 20, 99, 100];
const OFFSETS = [
  0,
  1,
  79,
  80,
  WINDOW - 1,
  WINDOW,
  WINDOW + 1,
  WIDE_WINDOW - 100,
  WIDE_WINDOW - 1,
  WIDE_WINDOW,
  2147483647,
];

/** Compares pages of every size, on both sides of the windows' ends and of the feed's. */
async function expectPages(t: Test, viewer: Person, expected: readonly number[], who: string): Promise<void> {
  const ends = [expected.length - 1, expected.length, expected.length + 50].filter((offset) => offset >= 0);
  for (const limit of LIMITS) {
    for (const offset of new Set([...OFFSETS, ...ends, Math.max(0, expected.length - limit)])) {
      const page = await viewer.ask('GET', `/posts?limit=${limit}&offset=${offset}`);
      const more = offset + limit < expected.length;
      t.strictSame(
        { ids: idsIn(page), link: page.headers.get('link') },
        {
          ids: expected.slice(offset, offset + limit),
          link: more ? `</posts?limit=${limit}&offset=${offset + limit}>; rel="next"` : null,
        },
        `${who}: limit ${limit}, offset ${offset} of ${expected.length}`,
      );
    }
  }
}

/** All ids of all pages, by following the links. */
async function followAll(viewer: Person, start: string): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = start; next; ) {
    const page: Answer = await viewer.ask('GET', next);
    ids.push(...idsIn(page));
    next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return ids;
}

t.test('without posts the feed is an empty list without a next page', async (t) => {
  await emptyFeed();
  const ada = await service.person();
  const { status, body, headers } = await ada.ask('GET', '/posts');
  t.strictSame([status, body, headers.has('link')], [200, [], false]);
});

t.test('posts come newest first, twenty if nothing is said', async (t) => {
  await emptyFeed();
  const [ada, bob] = await people(2);
  if (!ada || !bob) throw new Error('two people are needed');
  const written = [];
  for (let n = 0; n < 25; n += 1) written.push((await writePost(n % 2 ? ada : bob)).id);
  const feed = await ada.ask('GET', '/posts');
  t.strictSame(idsIn(feed), written.toReversed().slice(0, 20));
  t.equal(feed.headers.get('link'), '</posts?limit=20&offset=20>; rel="next"');
  t.match(feed.body[0], { author_id: bob.id, author_username: bob.username, like_count: 0, liked_by_me: false });
  t.notOk('comments' in feed.body[0], 'comments are shown with the single post alone');
});

for (const count of [1, 20, 21, WINDOW - 1, WINDOW, WINDOW + 1, WINDOW + 60, WIDE_WINDOW, WIDE_WINDOW + 60]) {
  t.test(`a feed of ${count}: each page holds its part, and leads on while there is more`, async (t) => {
    await emptyFeed();
    const authors = await people(2);
    const viewer = await service.person();
    await seed(authors, count);
    await expectPages(t, viewer, await expectedFeed(authors), 'a stranger');
  });
}

t.test('most authors private: everybody gets what they may see, all of it, once, in order', async (t) => {
  await emptyFeed();
  const open = await service.person();
  const [stranger, friend] = [await service.person(), await service.person()];
  const hermits = await people(19, { private: true });
  const [owner, one, other] = hermits;
  if (!owner || !one || !other) throw new Error('three hermits are needed');
  await befriend(friend, one);
  await befriend(other, friend);
  await befriend(one, other);
  await friend.ask('POST', `/friends/request?to=${owner.id}`);
  await seed([open, ...hermits], 400);

  const viewers: [who: string, viewer: Person, sees: Person[]][] = [
    ['a stranger', stranger, [open]],
    ['a friend of two, who has asked a third', friend, [open, one, other]],
    ['a private author', owner, [open, owner]],
    ['a private author with a friend', one, [open, one, other]],
  ];
  for (const [who, viewer, sees] of viewers) {
    const expected = await expectedFeed(sees);
    t.equal(expected.length, 20 * sees.length, `${who} may see ${expected.length}`);
    await expectPages(t, viewer, expected, who);
    for (const limit of [3, 7, 20, 100]) {
      t.strictSame(await followAll(viewer, `/posts?limit=${limit}`), expected, `${who}, following pages of ${limit}`);
    }
  }
});

for (const hidden of [WINDOW + 20, WIDE_WINDOW + 20]) {
  t.test(`${hidden} posts that the viewer may not see are no end of the feed`, async (t) => {
    await emptyFeed();
    const [open, stranger] = [await service.person(), await service.person()];
    const hermit = await service.person({ private: true });
    await seed([open], 30);
    await seed([hermit], hidden);
    const old = await expectedFeed([open]);
    await expectPages(t, stranger, old, 'a stranger');
    await expectPages(t, hermit, await expectedFeed([open, hermit]), 'the author');

    // The window holds exactly a page, or one more or less than that.
    for (const extra of [19, 1, 1]) {
      await seed([open], extra);
      await expectPages(t, stranger, await expectedFeed([open]), `after ${extra} more`);
    }
  });
}

t.test('those who ask at once share a window, and none sees through another’s eyes', async (t) => {
  await emptyFeed();
  const hermits = await people(8, { private: true });
  const viewers = await people(8);
  const open = await service.person();
  for (const [index, viewer] of viewers.entries()) {
    for (const hermit of hermits.slice(0, index)) await befriend(viewer, hermit);
  }
  await seed([open, ...hermits], 90);
  const expected = await Promise.all(viewers.map((_, index) => expectedFeed([open, ...hermits.slice(0, index)])));
  for (let round = 0; round < 5; round += 1) {
    const feeds = await Promise.all(viewers.map((viewer) => viewer.ask('GET', '/posts?limit=99')));
    for (const [index, feed] of feeds.entries()) t.strictSame(idsIn(feed), expected[index], `friend of ${index}`);
    t.strictSame(
      await followAll(hermits[round] as Person, '/posts?limit=9'),
      await expectedFeed([open, hermits[round] as Person]),
    );
  }
});

t.test('a private author’s posts go and come at once, on the first page and on the last', async (t) => {
  await emptyFeed();
  const [ada, bob, friend, stranger] = await people(4);
  if (!ada || !bob || !friend || !stranger) throw new Error('four people are needed');
  await befriend(ada, friend);
  await seed([ada, bob], WINDOW + 50);
  const all = await expectedFeed([ada, bob]);
  const his = await expectedFeed([bob]);
  const feedOf = (viewer: Person) => followAll(viewer, '/posts?limit=50');
  const expectFeeds = async (forStranger: number[], forFriend: number[], when: string) => {
    t.strictSame(await feedOf(stranger), forStranger, `${when}: a stranger`);
    t.strictSame(await feedOf(friend), forFriend, `${when}: a friend`);
    t.strictSame(await feedOf(ada), all, `${when}: the author`);
  };
  await expectFeeds(all, all, 'public');
  await hide(ada, true);
  await expectFeeds(his, all, 'private');
  await ada.ask('DELETE', `/friends/remove?id=${friend.id}`);
  await expectFeeds(his, his, 'private, and no longer friends');
  await stranger.ask('POST', `/friends/request?to=${ada.id}`);
  await expectFeeds(his, his, 'private, and asked by the stranger');
  await ada.ask('POST', `/friends/accept?from=${stranger.id}`);
  await expectFeeds(all, his, 'private, and friends with the stranger');
  await hide(ada, false);
  await expectFeeds(all, all, 'public again');
});

t.test('friendship is asked after the posts are read: what is posted once it has ended is hidden', async (t) => {
  await emptyFeed();
  const { read } = service.stores;
  const [hermit, another] = await people(2, { private: true });
  const friend = await service.person();
  if (!hermit || !another) throw new Error('two hermits are needed');
  const partWays = async () => {
    await hermit.ask('DELETE', `/friends/remove?id=${friend.id}`);
    return writePost(hermit, { title: 'Secret' });
  };
  // Friendship ends, and the secret is posted, at the worst of moments: right before the posts are read.
  const byRows = { ...read, newestPosts: (count: number) => partWays().then(() => read.newestPosts(count)) };
  const onceFriendsAreRead = (times: number) => {
    let left = times;
    let goOn = () => {};
    const parted = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    return {
      ...read,
      async friendsOf(person: number) {
        const friends = await read.friendsOf(person);
        left -= 1;
        if (left === 0) await partWays().then(goOn);
        return friends;
      },
      newestIds: (count: number) => (times === 1 ? parted : Promise.resolve()).then(() => read.newestIds(count)),
    };
  };
  for (const [path, unlucky, limit, hidden] of [
    ['by the window of rows', byRows, 20, 0],
    ['by the window of ids', onceFriendsAreRead(1), WINDOW, 0],
    ['by the viewer’s own query', onceFriendsAreRead(2), 20, WIDE_WINDOW],
  ] as const) {
    await befriend(friend, hermit);
    const shared = await writePost(hermit);
    if (hidden > 0) await seed([another], hidden, 'after now');
    t.strictSame(
      idsIn(await friend.ask('GET', `/posts?limit=${limit}`))[0],
      shared.id,
      'a friend sees what is private',
    );
    const { posts } = await readFeed({ db, read: unlucky }, friend.id, { limit, offset: 0 });
    t.strictSame(posts, [], path);
    t.strictSame(idsIn(await friend.ask('GET', `/posts?limit=${limit}`)), [], `${path}: and afterwards`);
  }
});

t.test('a post whose author’s row is missing is shown to everybody, without a username', async (t) => {
  await emptyFeed();
  const [viewer, other] = [await service.person(), await service.person()];
  const [gone, hermit] = [await service.person(), await service.person({ private: true })];
  await seed([gone, hermit, other], WINDOW + 20);
  await db.deleteFrom('accounts').where('id', 'in', [gone.id, hermit.id]).execute();
  const expected = await expectedFeed([gone, hermit, other]);
  t.equal(expected.length, WINDOW + 20);
  await expectPages(t, viewer, expected, 'whether the author was private or not');

  const newest = (await viewer.ask('GET', '/posts?limit=3')).body;
  const deepest = (await viewer.ask('GET', `/posts?limit=3&offset=${WINDOW + 10}`)).body;
  for (const post of [...newest, ...deepest]) {
    t.equal(post.author_username, post.author_id === other.id ? other.username : null);
    const { status, body } = await viewer.ask('GET', `/posts/${post.id}`);
    t.strictSame([status, body], [200, { ...post, comments: [] }], 'and is read like any other');
  }
  t.strictSame(new Set(newest.map(({ author_id }: { author_id: number }) => author_id)).size, 3);
});

t.test('likes are shown to each viewer on every page', async (t) => {
  await emptyFeed();
  const [ada, bob] = [await service.person(), await service.person()];
  await seed([ada], WIDE_WINDOW + 20);
  const ids = await expectedFeed([ada]);
  const liked = [5, 45, WINDOW + 5, WIDE_WINDOW + 5].map((index) => ids[index] ?? 0);
  for (const id of liked) await bob.ask('POST', `/posts/like?id=${id}`);
  for (const offset of [0, WINDOW, WIDE_WINDOW]) {
    for (const [viewer, likes] of [
      [bob, true],
      [ada, false],
    ] as const) {
      const { body } = await viewer.ask('GET', `/posts?offset=${offset}`);
      for (const post of body) {
        const expected = liked.includes(post.id) ? [1, likes] : [0, false];
        t.strictSame([post.like_count, post.liked_by_me], expected);
      }
    }
  }
});

t.test('HEAD tells of the next page without showing this one', async (t) => {
  await emptyFeed();
  const ada = await service.person();
  await seed([ada], 21);
  const { status, headers, bytes } = await ada.ask('HEAD', '/posts');
  t.strictSame([status, bytes.length], [200, 0]);
  t.equal(headers.get('link'), '</posts?limit=20&offset=20>; rel="next"');
});
