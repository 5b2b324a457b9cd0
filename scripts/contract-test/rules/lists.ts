import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectThat, expectTimestamp, SkippedError } from '../expect.js';
import { claimsOf, idsOf, makeFriends, type Post, png, publish, visibilityFixture } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

/** More posts than the largest page holds. */
const POST_COUNT = 105;
/** The number of posts of the private account. */
const PRIVATE_POST_COUNT = 30;
/** The allowed difference between the clocks of the service and of this machine. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Compares posts by `created_at` descending, then by `id` descending. */
const newestFirst = (one: Post, other: Post) =>
  one.created_at === other.created_at ? other.id - one.id : one.created_at < other.created_at ? 1 : -1;

interface Timeline {
  /** A public account with more posts than a page holds. */
  author: User;
  /** All posts of the author as the author sees them, newest first. */
  ownPosts: Post[];
  /** Likes some posts of the author. Has no friends. */
  reader: User;
  likedByReader: Set<number>;
  /** A private account with posts newer than those of `author`. */
  privateAuthor: User;
  privatePosts: Post[];
  /** A friend of `privateAuthor`. */
  friend: User;
}

/** Publishes posts concurrently, so that some may have the same `created_at`. */
async function publishMany(author: User, count: number, special: Record<string, string | File>[] = []) {
  const posts: Post[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      const form = special[index] ?? { title: `Post ${index}`, text: `Text ${index}` };
      posts.push(await publish(author, form));
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  return posts.sort(newestFirst);
}

const timeline = (users: TestUsers): Promise<Timeline> =>
  users.shared('timeline', async () => {
    const [author, reader, privateAuthor, friend] = (await Promise.all(
      Array.from({ length: 4 }, () => users.register()),
    )) as [User, User, User, User];
    await privateAuthor.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
    await makeFriends(friend, privateAuthor);
    const ownPosts = await publishMany(author, POST_COUNT - 4);
    // Published last, so that they are on the first page.
    const special = [
      { text: 'long '.repeat(2000) },
      { image: png() },
      { title: 'é\u0301 <b> & "', text: '🐟'.repeat(10_000) },
      { text: 'liked by two' },
    ];
    ownPosts.unshift(...(await publishMany(author, 4, special)));
    ownPosts.sort(newestFirst);
    const [first, second, third] = ownPosts as [Post, Post, Post];
    const likes: [User, Post][] = [
      [reader, first],
      [author, second],
      [reader, third],
      [author, third],
      [friend, third],
    ];
    for (const [{ send }, { id }] of likes) await send(200, `POST /posts/like?id=${id}`);
    for (const [user, post] of likes) {
      post.like_count += 1;
      if (user === author) post.liked_by_me = true;
    }
    const privatePosts = await publishMany(privateAuthor, PRIVATE_POST_COUNT);
    return {
      author,
      ownPosts,
      reader,
      likedByReader: new Set([first.id, third.id]),
      privateAuthor,
      privatePosts,
      friend,
    };
  });

/** Returns a copy of the ids in ascending order. */
const ascending = (ids: readonly number[]) => [...ids].sort((one, other) => one - other);

/** One of the two lists, as read by a user who cannot see the posts of the private account. */
interface List {
  path: '/posts' | '/posts/me';
  user: User;
  /** All posts of the list, or the first 200 of them. */
  expected: Post[];
}

/**
 * Checks a list against its expected posts. The feed is read again, up to five times, if other users publish meanwhile.
 *
 * @throws ExpectationError if `check` fails on a feed that has not changed
 * @throws SkippedError if the feed keeps changing
 */
async function checkList(users: TestUsers, path: List['path'], check: (list: List) => Promise<void>): Promise<void> {
  const { author, ownPosts, reader } = await timeline(users);
  if (path === '/posts/me') return check({ path, user: author, expected: ownPosts });
  for (let attempt = 1; ; attempt++) {
    const expected = await firstPosts(reader);
    let failure: unknown;
    await check({ path, user: reader, expected }).catch((error) => {
      failure = error;
    });
    if (!failure) return;
    if (idsOf(await firstPosts(reader)).join() === idsOf(expected).join()) throw failure;
    if (attempt === 5) throw new SkippedError('other users keep publishing posts');
  }
}

async function firstPosts({ send }: User): Promise<Post[]> {
  const pages = [await send(200, 'GET /posts?limit=100'), await send(200, 'GET /posts?limit=100&offset=100')];
  return pages.flatMap(({ body }) => body);
}

/** Requests a page of a list, and checks that it has the expected posts from index `from` to index `to`, exclusive. */
async function expectPage(
  { user, path, expected }: List,
  query: string,
  from: number,
  to: number,
): Promise<CheckedResponse> {
  const response = await user.send(200, `GET ${path}${query}`);
  expectEqual(response, `the ids of posts ${from} to ${to}`, idsOf(response.body), idsOf(expected.slice(from, to)));
  return response;
}

/** Returns the path of the next page. */
function nextPagePath(response: CheckedResponse): string {
  const [, next] = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
  expectThat(next, 'a Link to the next page', response);
  const { pathname, search } = new URL(next, 'http://base/');
  return `${pathname}${search}`;
}

function expectCurrentTime(response: CheckedResponse, field: string, time: string): void {
  expectTimestamp(response, field, time);
  expectThat(
    Math.abs(Date.parse(time) - Date.now()) < CLOCK_TOLERANCE_MS,
    `${field} within five minutes of now, not ${time}`,
    response,
  );
}

function expectFutureTime(response: CheckedResponse, time: string): void {
  expectThat(Date.parse(time) > Date.now() + 1000, `a time in the future, not ${time}`, response);
}

const PAGES: [id: string, sentence: string, check: (list: List) => Promise<void>][] = [
  ['default-limit', 'returns 20 posts without limit', async (list) => void (await expectPage(list, '', 0, 20))],
  [
    'default-offset',
    'starts with the newest post if offset is 0 or absent',
    async (list) => {
      await expectPage(list, '?limit=7', 0, 7);
      await expectPage(list, '?limit=7&offset=0', 0, 7);
    },
  ],
  ['maximum', 'returns 100 posts with limit=100', async (list) => void (await expectPage(list, '?limit=100', 0, 100))],
  [
    'limit',
    'returns the number of posts that limit specifies',
    async (list) => {
      for (const limit of [1, 2, 21, 51, 99]) await expectPage(list, `?limit=${limit}`, 0, limit);
    },
  ],
  [
    'offset',
    'skips the number of posts that offset specifies, with and without limit',
    async (list) => {
      for (const offset of [1, 19, 50]) {
        await expectPage(list, `?limit=10&offset=${offset}`, offset, offset + 10);
        await expectPage(list, `?offset=${offset}`, offset, offset + 20);
      }
    },
  ],
  [
    'link',
    'returns a Link with rel="next" to the next page of the same size while there are more posts',
    async (list) => {
      for (const [query, size] of [
        ['', 20],
        ['?limit=33', 33],
      ] as const) {
        let response = await expectPage(list, query, 0, size);
        for (let page = 1; page < 3; page++) {
          response = await list.user.send(200, `GET ${nextPagePath(response)}`);
          const ids = idsOf(list.expected.slice(page * size, (page + 1) * size));
          expectEqual(response, `page ${page + 1}`, idsOf(response.body), ids);
        }
      }
    },
  ],
  [
    'beyond',
    'returns an empty list without a Link beyond the last post',
    async ({ user, path }) => {
      for (const offset of [1_000_000, 2_147_483_647]) {
        const response = await user.send(200, `GET ${path}?limit=5&offset=${offset}`);
        expectEqual(response, 'the posts', response.body, []);
        expectThat(!response.headers.has('link'), 'no Link', response);
      }
    },
  ],
  [
    'order',
    'returns the newest posts first: by created_at descending, then by id descending',
    async ({ user, path, expected }) => {
      const response = await user.send(200, `GET ${path}?limit=100`);
      expectEqual(response, 'the order', idsOf(response.body), idsOf([...response.body].sort(newestFirst)));
      expectThat(expected.length >= 100 && response.body.length === 100, '100 posts', response);
    },
  ],
];

const pageRules = (['/posts', '/posts/me'] as const).flatMap((path) =>
  PAGES.map(([id, sentence, check]) =>
    rule(`posts.list.${id}.${path === '/posts' ? 'feed' : 'own'}`, `GET ${path} ${sentence}.`, (users) =>
      checkList(users, path, check),
    ),
  ),
);

/** Checks that a list entry equals GET of the post by the same user, except for the comments. */
async function expectSameAsSingle({ send }: User, response: CheckedResponse, entry: Post): Promise<void> {
  const single = await send(200, `GET /posts/${entry.id}`);
  expectEqual(response, 'the entry with comments, as the single post', { ...entry, comments: [] }, single.body);
}

export const lists: Subject = {
  name: 'Lists',
  rules: [
    ...pageRules,

    rule(
      'posts.list.entry.own',
      'An entry of GET /posts/me equals GET /posts/{id} without comments.',
      async (users) => {
        const { author, ownPosts } = await timeline(users);
        const response = await author.send(200, 'GET /posts/me?limit=100');
        expectEqual(response, 'the entries, as created', response.body, ownPosts.slice(0, 100));
        await Promise.all(response.body.slice(0, 8).map((entry: Post) => expectSameAsSingle(author, response, entry)));
      },
    ),

    rule(
      'posts.list.entry.feed',
      'An entry of GET /posts equals GET /posts/{id} without comments: full text, author, image, likes.',
      async (users) => {
        const { reader, author, ownPosts, likedByReader, privateAuthor, privatePosts, friend } = await timeline(users);
        for (const [user, posts] of [
          [reader, ownPosts.map((post) => ({ ...post, liked_by_me: likedByReader.has(post.id) }))],
          [author, ownPosts],
          [friend, privatePosts],
          [privateAuthor, privatePosts],
        ] as const) {
          const response = await user.send(200, 'GET /posts?limit=60');
          const known = new Map(posts.map((post) => [post.id, post]));
          const entries: Post[] = response.body.filter(({ id }: Post) => known.has(id));
          expectThat(entries.length >= 10, 'the posts just published', response);
          for (const entry of entries) expectEqual(response, 'the entry', entry, known.get(entry.id));
          await Promise.all(entries.slice(0, 8).map((entry) => expectSameAsSingle(user, response, entry)));
        }
      },
    ),

    rule(
      'posts.list.own.only',
      'GET /posts/me returns only posts of the authenticated user, including those of a private account.',
      async (users) => {
        const { privateAuthor, privatePosts, reader } = await timeline(users);
        const response = await privateAuthor.send(200, 'GET /posts/me?limit=100');
        expectEqual(response, 'the posts', response.body, privatePosts);
        const empty = await reader.send(200, 'GET /posts/me');
        expectEqual(empty, 'the posts', empty.body, []);
      },
    ),

    rule('posts.list.last-page', 'The last page of GET /posts/me has no Link, even if it is full.', async (users) => {
      const { author, ownPosts } = await timeline(users);
      for (const [limit, offset] of [
        [35, 70],
        [100, 5],
        [1, POST_COUNT - 1],
        [50, 80],
      ] as const) {
        const response = await author.send(200, `GET /posts/me?limit=${limit}&offset=${offset}`);
        expectEqual(response, 'the ids', idsOf(response.body), idsOf(ownPosts.slice(offset)));
        expectThat(!response.headers.has('link'), 'no Link on the last page', response);
      }
      const before = await author.send(200, `GET /posts/me?limit=35&offset=69`);
      const last = await author.send(200, `GET ${nextPagePath(before)}`);
      expectEqual(last, 'the number of posts on the last page', last.body.length, 1);
    }),

    rule(
      'posts.list.filtered',
      'GET /posts omits posts that the user may not see, and its pages are still full.',
      (users) =>
        checkList(users, '/posts', async (list) => {
          const { privateAuthor, privatePosts, friend } = await timeline(users);
          for (const query of ['', '?limit=5', '?limit=50', '?limit=100', '?limit=20&offset=20']) {
            const response = await list.user.send(200, `GET /posts${query}`);
            expectEqual(
              response,
              'the number of posts',
              response.body.length,
              Number(/limit=(\d+)/.exec(query)?.[1] ?? 20),
            );
            expectThat(
              !response.body.some(({ author_id }: Post) => author_id === privateAuthor.id),
              'no post of the private account',
              response,
            );
          }
          const seen = await friend.send(200, 'GET /posts?limit=100');
          const ids = idsOf(seen.body.filter(({ author_id }: Post) => author_id === privateAuthor.id));
          expectEqual(seen, 'the posts of a friend', ids, idsOf(privatePosts));
        }),
    ),

    rule(
      'posts.created-at',
      'created_at is the time of creation, and equal in the response, the single post and both lists.',
      async (users) => {
        const { reader } = await timeline(users);
        const post = await publish(reader);
        const response = await reader.send(200, `GET /posts/${post.id}`);
        expectCurrentTime(response, 'created_at', post.created_at);
        expectEqual(response, 'created_at', response.body.created_at, post.created_at);
        for (const path of ['/posts/me', '/posts?limit=100']) {
          const list = await reader.send(200, `GET ${path}`);
          const entry = list.body.find(({ id }: Post) => id === post.id);
          expectEqual(list, 'created_at in the list', entry?.created_at, post.created_at);
        }
        const later = await publish(reader);
        expectThat(later.created_at >= post.created_at && later.id > post.id, 'a later time and a higher id', response);
        for (const { id } of [post, later]) await reader.send(200, `DELETE /posts/delete?id=${id}`);
      },
    ),

    rule(
      'friends.list.entry',
      'An entry of GET /friends equals GET /profiles/{id}: the full profile, including that of a private account.',
      async (users) => {
        const { viewers, owned } = await visibilityFixture(users);
        const response = await viewers.friend.send(200, 'GET /friends');
        const ids = idsOf(response.body);
        const wanted = [...Object.values(owned).map(({ owner }) => owner.id), viewers.friendOfFriend.id];
        expectEqual(response, 'the friends, by id', ids, ascending(wanted));
        for (const entry of response.body) {
          const profile = await viewers.friend.send(200, `GET /profiles/${entry.id}`);
          expectEqual(response, 'the entry', entry, profile.body);
          expectEqual(
            response,
            'private',
            entry.private,
            [owned.private, owned['was-public']].some(({ owner }) => owner.id === entry.id),
          );
        }
      },
    ),

    rule(
      'friends.requests.entry',
      'An entry of GET /friends/requests equals GET /profiles/{id}: the full profile if it is public, otherwise id, name and username.',
      async (users) => {
        const { viewers, owned } = await visibilityFixture(users);
        const response = await viewers.requested.send(200, 'GET /friends/requests');
        const ids = idsOf(response.body);
        const wanted = Object.values(owned).map(({ owner }) => owner.id);
        expectEqual(response, 'the senders of requests, by id', ids, ascending(wanted));
        for (const entry of response.body) {
          const profile = await viewers.requested.send(200, `GET /profiles/${entry.id}`);
          expectEqual(response, 'the entry', entry, profile.body);
        }
        const open = response.body.find(({ id }: { id: number }) => id === owned.public.owner.id);
        expectEqual(response, 'the picture of a public account', open?.profile_link, owned.public.picture);
      },
    ),

    rule(
      'friends.lists.apart',
      'GET /friends returns friends only, and GET /friends/requests incoming requests only.',
      async (users) => {
        const { viewers, owned } = await visibilityFixture(users);
        for (const [user, friends, requests] of [
          [viewers.requester, [], []],
          [viewers.requested, [], Object.values(owned).map(({ owner }) => owner.id)],
          [viewers.formerFriend, [], []],
          [viewers.stranger, [], []],
          [viewers.friendOfFriend, [viewers.friend.id], []],
          [owned.private.owner, [viewers.friend.id], [viewers.requester.id]],
        ] as const) {
          for (const [path, wanted] of [
            ['/friends', friends],
            ['/friends/requests', requests],
          ] as const) {
            const response = await user.send(200, `GET ${path}`);
            const ids = idsOf(response.body);
            expectEqual(response, 'the ids', ids, ascending(wanted));
          }
        }
      },
    ),

    rule(
      'sessions.list.entries',
      'GET /auth/sessions returns one entry per login, with its id, device name, times and whether it is current.',
      async (users) => {
        const user = await users.register();
        const devices = [`Contract Kit ${'x'.repeat(100)}`, 'Kit/2.0 (a test)'];
        const logins = [];
        for (const device of devices) logins.push(await users.login(user, { 'User-Agent': device }));
        const current = logins.at(-1) as CheckedResponse;
        const response = await users.anonymous.send(200, 'GET /auth/sessions', { token: current.body.token });
        expectEqual(response, 'the number of sessions', response.body.length, 3);
        for (const { body } of logins) {
          expectFutureTime(current, body.expires_at);
          const { jti } = claimsOf(body.token);
          const entry = response.body.find(({ id }: { id: string }) => id === jti);
          expectThat(entry, `a session ${jti}`, response);
          expectEqual(response, 'current', entry.current, body.token === current.body.token);
        }
        const names = response.body.map(({ device_name }: { device_name: string }) => device_name);
        expectEqual(response, 'the device names', names.sort(), [...devices, 'Unknown device'].sort());
        for (const { created_at, last_used_at } of response.body) {
          expectCurrentTime(response, 'created_at', created_at);
          expectCurrentTime(response, 'last_used_at', last_used_at);
          expectThat(last_used_at >= created_at, 'last_used_at not before created_at', response);
        }
      },
    ),
  ],
};
