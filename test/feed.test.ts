import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { readFeed } from '../db/feed.js';
import { WIDE_WINDOW_POSTS, WINDOW_POSTS } from '../db/readers.js';
import type { TestResponse } from './support/requests.js';
import { befriend, createPost, type Person, startTestService } from './support/service.js';

/*
 * The feed where it is read from its windows and beyond them, which takes more posts than the contract tests publish.
 */

const service = await startTestService(t);
const { db } = service.stores;

const people = (count: number, overrides: { private?: boolean } = {}) =>
  Promise.all(Array.from({ length: count }, () => service.createUser(overrides)));
const setPrivate = (author: Person, value: boolean) =>
  author.send('PUT', '/profiles/me', { form: { private: String(value) } });
const idsIn = ({ body }: TestResponse): number[] => body.map(({ id }: { id: number }) => id);

/** Begins a test with a feed of its own. */
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

/** Compares pages of several sizes that end around the ends of the windows and of the feed. */
async function expectPages(t: Test, viewer: Person, expected: readonly number[], who: string): Promise<void> {
  const ends = [WINDOW_POSTS, WIDE_WINDOW_POSTS, expected.length].flatMap((end) => [end - 1, end, end + 1]);
  for (const limit of [1, 20, 100]) {
    const offsets = [limit, ...ends].map((end) => end - limit).filter((offset) => offset <= expected.length);
    for (const offset of new Set(offsets.filter((offset) => offset >= 0))) {
      const end = offset + limit;
      const page = await viewer.send('GET', `/posts?limit=${limit}&offset=${offset}`);
      t.strictSame(
        { ids: idsIn(page), link: page.headers.get('link') },
        {
          ids: expected.slice(offset, end),
          link: end < expected.length ? `</posts?limit=${limit}&offset=${end}>; rel="next"` : null,
        },
        `${who}: limit ${limit}, offset ${offset} of ${expected.length}`,
      );
    }
  }
}

/** Returns the ids of all pages, by following the links. */
async function followAll(viewer: Person, start: string): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = start; next; ) {
    const page: TestResponse = await viewer.send('GET', next);
    ids.push(...idsIn(page));
    next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return ids;
}

t.test('each page of a feed of any length holds its part, with likes, and links to the next', async (t) => {
  await emptyFeed();
  const [viewer, ...authors] = (await people(3)) as [Person, Person, Person];
  let length = 0;
  for (const next of [
    0,
    1,
    20,
    WINDOW_POSTS - 1,
    WINDOW_POSTS,
    WINDOW_POSTS + 1,
    WINDOW_POSTS + 60,
    WIDE_WINDOW_POSTS,
    WIDE_WINDOW_POSTS + 60,
  ]) {
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
  const authors = await people(2);
  await seed(authors, 90);
  for (const author of authors) {
    t.strictSame(await followAll(author, '/posts/me?limit=7'), await expectedFeed([author]));
  }
});

t.test('with mostly private authors each user gets every visible post once, in order', async (t) => {
  await emptyFeed();
  const [open, stranger, friend] = (await people(3)) as [Person, Person, Person];
  const hermits = await people(11, { private: true });
  const [owner, one, other] = hermits as [Person, Person, Person];
  await befriend(friend, one);
  await befriend(other, friend);
  await befriend(one, other);
  await friend.send('POST', `/friends/request?to=${owner.id}`);
  await seed([open, ...hermits], 360);

  const viewers: [who: string, viewer: Person, sees: Person[]][] = [
    ['a stranger', stranger, [open]],
    ['a friend of two, with a request to a third', friend, [open, one, other]],
    ['a private author', owner, [open, owner]],
    ['a private author with a friend', one, [open, one, other]],
  ];
  for (const [who, viewer, sees] of viewers) {
    const expected = await expectedFeed(sees);
    t.equal(expected.length, 30 * sees.length, `${who} sees ${expected.length}`);
    await expectPages(t, viewer, expected, who);
    for (const limit of [3, 20]) {
      t.strictSame(await followAll(viewer, `/posts?limit=${limit}`), expected, `${who}, following pages of ${limit}`);
    }
  }
});

for (const hidden of [WINDOW_POSTS + 20, WIDE_WINDOW_POSTS + 20]) {
  t.test(`${hidden} posts that the user may not see do not end the feed`, async (t) => {
    await emptyFeed();
    const [open, stranger] = (await people(2)) as [Person, Person];
    const hermit = await service.createUser({ private: true });
    await seed([open], 30);
    await seed([hermit], hidden);
    await expectPages(t, stranger, await expectedFeed([open]), 'a stranger');
    await expectPages(t, hermit, await expectedFeed([open, hermit]), 'the author');

    // The newest posts that can be seen are one fewer than a page, as many, and one more.
    for (const extra of [19, 1, 1]) {
      await seed([open], extra);
      t.strictSame(await followAll(stranger, '/posts?limit=20'), await expectedFeed([open]), `after ${extra} more`);
    }
  });
}

t.test('users whose requests share a window each get their own feed', async (t) => {
  await emptyFeed();
  const hermits = await people(4, { private: true });
  const viewers = await people(4);
  const open = await service.createUser();
  for (const [index, viewer] of viewers.entries()) {
    for (const hermit of hermits.slice(0, index)) await befriend(viewer, hermit);
  }
  await seed([open, ...hermits], 90);
  const expected = await Promise.all(viewers.map((_, index) => expectedFeed([open, ...hermits.slice(0, index)])));
  for (const limit of [20, 50, 99]) {
    const feeds = await Promise.all(viewers.map((viewer) => viewer.send('GET', `/posts?limit=${limit}`)));
    for (const [index, feed] of feeds.entries()) {
      t.strictSame(idsIn(feed), expected[index]?.slice(0, limit), `a friend of ${index}, limit ${limit}`);
    }
  }
});

t.test(
  'the posts of a private author appear and disappear immediately, on the first page and on the last',
  async (t) => {
    await emptyFeed();
    const [author, other, friend, stranger] = (await people(4)) as [Person, Person, Person, Person];
    await befriend(author, friend);
    await seed([author, other], WINDOW_POSTS + 50);
    const all = await expectedFeed([author, other]);
    const rest = await expectedFeed([other]);
    const expectFeeds = async (forStranger: number[], forFriend: number[], when: string) => {
      t.strictSame(await followAll(stranger, '/posts?limit=50'), forStranger, `${when}: a stranger`);
      t.strictSame(await followAll(friend, '/posts?limit=50'), forFriend, `${when}: a friend`);
    };
    await expectFeeds(all, all, 'public');
    await setPrivate(author, true);
    await expectFeeds(rest, all, 'private');
    await author.send('DELETE', `/friends/remove?id=${friend.id}`);
    await expectFeeds(rest, rest, 'private, and no longer friends');
    await befriend(stranger, author);
    await expectFeeds(all, rest, 'private, and friends with the stranger');
    await setPrivate(author, false);
    await expectFeeds(all, all, 'public again');
  },
);

t.test('friendships are read after the posts: a post published after a friendship has ended is hidden', async (t) => {
  await emptyFeed();
  const { read } = service.stores;
  const [author, another] = (await people(2, { private: true })) as [Person, Person];
  const friend = await service.createUser();
  const endFriendship = async () => {
    await author.send('DELETE', `/friends/remove?id=${friend.id}`);
    return createPost(author, { title: 'Secret' });
  };
  // The friendship ends, and the secret is published, immediately before the posts are read.
  const byRows = { ...read, newestPosts: (count: number) => endFriendship().then(() => read.newestPosts(count)) };
  const onceFriendsAreRead = (times: number) => {
    let left = times;
    let resume = () => {};
    const ended = new Promise<void>((resolve) => {
      resume = resolve;
    });
    return {
      ...read,
      async friendsOf(person: number) {
        const friends = await read.friendsOf(person);
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
    ['by the user’s own query', onceFriendsAreRead(2), 20, WIDE_WINDOW_POSTS],
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

t.test('a post whose author row is missing is shown to everybody, without a username', async (t) => {
  await emptyFeed();
  const [viewer, other, deleted] = (await people(3)) as [Person, Person, Person];
  const hermit = await service.createUser({ private: true });
  await seed([deleted, hermit, other], WINDOW_POSTS + 20);
  await db.deleteFrom('accounts').where('id', 'in', [deleted.id, hermit.id]).execute();
  t.strictSame(await followAll(viewer, '/posts?limit=50'), await expectedFeed([deleted, hermit, other]));

  for (const offset of [0, WINDOW_POSTS + 10]) {
    const { body } = await viewer.send('GET', `/posts?limit=3&offset=${offset}`);
    t.equal(new Set(body.map(({ author_id }: { author_id: number }) => author_id)).size, 3);
    for (const post of body) {
      t.equal(post.author_username, post.author_id === other.id ? other.username : null);
      const single = await viewer.send('GET', `/posts/${post.id}`);
      t.strictSame([single.status, single.body], [200, { ...post, comments: [] }], 'and is read like any other');
    }
  }
});
