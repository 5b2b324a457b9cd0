import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectThat, SkippedError } from '../expect.js';
import { audience, befriend, type Post, png, publish } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

/** More than the longest page. */
const POSTS = 105;
/** How many of the newest posts are of a private account. */
const HIDDEN = 30;
/** What the clocks of the service and of this machine may differ by. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Newest first: `created_at` descending, then `id` descending. */
const newestFirst = (one: Post, other: Post) =>
  one.created_at === other.created_at ? other.id - one.id : one.created_at < other.created_at ? 1 : -1;

interface Timeline {
  /** Public, with more posts than a page holds. */
  author: User;
  /** All posts of the author as the author sees them, newest first. */
  own: Post[];
  /** Likes some posts of the author. No friend of anybody. */
  reader: User;
  likedByReader: Set<number>;
  /** Private, with the newest posts of all. */
  hidden: User;
  hiddenPosts: Post[];
  /** A friend of `hidden`. */
  friend: User;
}

/** Publishes posts side by side, so that some share a millisecond. */
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

const timeline = (cast: TestUsers): Promise<Timeline> =>
  cast.once('timeline', async () => {
    const [author, reader, hidden, friend] = (await Promise.all(Array.from({ length: 4 }, () => cast.register()))) as [
      User,
      User,
      User,
      User,
    ];
    await hidden.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
    await befriend(friend, hidden);
    const own = await publishMany(author, POSTS - 4);
    // Among the newest, so that they are on every first page.
    const special = [
      { text: 'long '.repeat(2000) },
      { image: png() },
      { title: 'é\u0301 <b> & "', text: '🐟'.repeat(10_000) },
      { text: 'liked by two' },
    ];
    own.unshift(...(await publishMany(author, 4, special)));
    own.sort(newestFirst);
    const [first, second, third] = own as [Post, Post, Post];
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
    const hiddenPosts = await publishMany(hidden, HIDDEN);
    return { author, own, reader, likedByReader: new Set([first.id, third.id]), hidden, hiddenPosts, friend };
  });

const idsOf = (posts: Post[]) => posts.map(({ id }) => id);

/** One of the two lists, to a user who does not see the hidden posts. */
interface List {
  path: '/posts' | '/posts/me';
  user: User;
  /** All posts of the list, or the first 200 of them. */
  expected: Post[];
}

/**
 * Checks a list against what it holds. Somebody else may publish meanwhile: then the feed is read again.
 *
 * @throws Broken by what `check` finds in a feed that has not changed
 */
async function withList(cast: TestUsers, path: List['path'], check: (list: List) => Promise<void>): Promise<void> {
  const { author, own, reader } = await timeline(cast);
  if (path === '/posts/me') return check({ path, user: author, expected: own });
  for (let attempt = 1; ; attempt++) {
    const expected = await firstPosts(reader);
    let failure: unknown;
    await check({ path, user: reader, expected }).catch((error) => {
      failure = error;
    });
    if (!failure) return;
    if (idsOf(await firstPosts(reader)).join() === idsOf(expected).join()) throw failure;
    if (attempt === 5) throw new SkippedError('other users publish posts all the time');
  }
}

async function firstPosts({ send }: User): Promise<Post[]> {
  const pages = [await send(200, 'GET /posts?limit=100'), await send(200, 'GET /posts?limit=100&offset=100')];
  return pages.flatMap(({ body }) => body);
}

async function pageIs(
  { user, path, expected }: List,
  query: string,
  from: number,
  to: number,
): Promise<CheckedResponse> {
  const answer = await user.send(200, `GET ${path}${query}`);
  expectEqual(answer, `the ids of posts ${from} to ${to}`, idsOf(answer.body), idsOf(expected.slice(from, to)));
  return answer;
}

/** The path of the next page. */
function nextOf(answer: CheckedResponse): string {
  const [, next] = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? [];
  expectThat(next, 'a Link to the next page', answer);
  const { pathname, search } = new URL(next, 'http://base/');
  return `${pathname}${search}`;
}

function wantNow(answer: CheckedResponse, what: string, time: string): void {
  expectThat(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time), `${what} in UTC, with milliseconds`, answer);
  expectThat(
    Math.abs(Date.parse(time) - Date.now()) < CLOCK_TOLERANCE_MS,
    `${what} within five minutes of now, not ${time}`,
    answer,
  );
}

const PAGES: [id: string, sentence: string, check: (list: List) => Promise<void>][] = [
  ['default-limit', 'has 20 posts without limit', async (list) => void (await pageIs(list, '', 0, 20))],
  [
    'default-offset',
    'begins with the newest post without offset, as with offset=0',
    async (list) => {
      await pageIs(list, '?limit=7', 0, 7);
      await pageIs(list, '?limit=7&offset=0', 0, 7);
    },
  ],
  ['maximum', 'has 100 posts with limit=100', async (list) => void (await pageIs(list, '?limit=100', 0, 100))],
  [
    'limit',
    'has as many posts as limit says',
    async (list) => {
      for (const limit of [1, 2, 21, 51, 99]) await pageIs(list, `?limit=${limit}`, 0, limit);
    },
  ],
  [
    'offset',
    'leaves out as many posts as offset says, with and without limit',
    async (list) => {
      for (const offset of [1, 19, 50]) {
        await pageIs(list, `?limit=10&offset=${offset}`, offset, offset + 10);
        await pageIs(list, `?offset=${offset}`, offset, offset + 20);
      }
    },
  ],
  [
    'link',
    'has a Link with rel="next" while there is more, which leads to the next page of the same size',
    async (list) => {
      for (const [query, size] of [
        ['', 20],
        ['?limit=33', 33],
      ] as const) {
        let answer = await pageIs(list, query, 0, size);
        for (let page = 1; page < 3; page++) {
          answer = await list.user.send(200, `GET ${nextOf(answer)}`);
          const ids = idsOf(list.expected.slice(page * size, (page + 1) * size));
          expectEqual(answer, `page ${page + 1}`, idsOf(answer.body), ids);
        }
      }
    },
  ],
  [
    'beyond',
    'is empty and has no Link beyond the last post',
    async ({ user, path }) => {
      for (const offset of [1_000_000, 2_147_483_647]) {
        const answer = await user.send(200, `GET ${path}?limit=5&offset=${offset}`);
        expectEqual(answer, 'the posts', answer.body, []);
        expectThat(!answer.headers.has('link'), 'no Link', answer);
      }
    },
  ],
  [
    'order',
    'is newest first: by created_at descending, then by id descending',
    async ({ user, path, expected }) => {
      const answer = await user.send(200, `GET ${path}?limit=100`);
      expectEqual(answer, 'the order', idsOf(answer.body), idsOf([...answer.body].sort(newestFirst)));
      expectThat(expected.length >= 100 && answer.body.length === 100, '100 posts', answer);
    },
  ],
];

const pageRules = (['/posts', '/posts/me'] as const).flatMap((path) =>
  PAGES.map(([id, sentence, check]) =>
    rule(`posts.list.${id}.${path === '/posts' ? 'feed' : 'own'}`, `GET ${path} ${sentence}.`, (cast) =>
      withList(cast, path, check),
    ),
  ),
);

/** An entry as the single resource shows it to the same user. */
async function wantSingle({ send }: User, answer: CheckedResponse, entry: Post): Promise<void> {
  const single = await send(200, `GET /posts/${entry.id}`);
  expectEqual(answer, 'the entry with comments, as the single post', { ...entry, comments: [] }, single.body);
}

export const lists: Subject = {
  name: 'Lists',
  rules: [
    ...pageRules,

    rule('posts.list.entry.own', 'An entry of GET /posts/me equals GET /posts/{id} without comments.', async (cast) => {
      const { author, own } = await timeline(cast);
      const answer = await author.send(200, 'GET /posts/me?limit=100');
      expectEqual(answer, 'the entries, as they were created', answer.body, own.slice(0, 100));
      await Promise.all(answer.body.slice(0, 8).map((entry: Post) => wantSingle(author, answer, entry)));
    }),

    rule(
      'posts.list.entry.feed',
      'An entry of GET /posts equals GET /posts/{id} without comments: full text, author, image, likes.',
      async (cast) => {
        const { reader, author, own, likedByReader, hidden, hiddenPosts, friend } = await timeline(cast);
        for (const [user, posts] of [
          [reader, own.map((post) => ({ ...post, liked_by_me: likedByReader.has(post.id) }))],
          [author, own],
          [friend, hiddenPosts],
          [hidden, hiddenPosts],
        ] as const) {
          const answer = await user.send(200, 'GET /posts?limit=60');
          const known = new Map(posts.map((post) => [post.id, post]));
          const entries: Post[] = answer.body.filter(({ id }: Post) => known.has(id));
          expectThat(entries.length >= 10, 'the posts just published', answer);
          for (const entry of entries) expectEqual(answer, 'the entry', entry, known.get(entry.id));
          await Promise.all(entries.slice(0, 8).map((entry) => wantSingle(user, answer, entry)));
        }
      },
    ),

    rule(
      'posts.list.own.only',
      'GET /posts/me has posts of the authenticated user only, also those of a private account.',
      async (cast) => {
        const { hidden, hiddenPosts, reader } = await timeline(cast);
        const answer = await hidden.send(200, 'GET /posts/me?limit=100');
        expectEqual(answer, 'the posts', answer.body, hiddenPosts);
        expectEqual(
          await reader.send(200, 'GET /posts/me'),
          'no posts',
          (await reader.send(200, 'GET /posts/me')).body,
          [],
        );
      },
    ),

    rule('posts.list.last-page', 'The last page of GET /posts/me has no Link, even if it is full.', async (cast) => {
      const { author, own } = await timeline(cast);
      for (const [limit, offset] of [
        [35, 70],
        [100, 5],
        [1, POSTS - 1],
        [50, 80],
      ] as const) {
        const answer = await author.send(200, `GET /posts/me?limit=${limit}&offset=${offset}`);
        expectEqual(answer, 'the ids', idsOf(answer.body), idsOf(own.slice(offset)));
        expectThat(!answer.headers.has('link'), 'no Link on the last page', answer);
      }
      const before = await author.send(200, `GET /posts/me?limit=35&offset=69`);
      expectEqual(
        before,
        'the last post, by the Link',
        (await author.send(200, `GET ${nextOf(before)}`)).body.length,
        1,
      );
    }),

    rule(
      'posts.list.filtered',
      'GET /posts leaves out posts that the user may not see, and its pages are full all the same.',
      (cast) =>
        withList(cast, '/posts', async (list) => {
          const { hidden, hiddenPosts, friend } = await timeline(cast);
          for (const query of ['', '?limit=5', '?limit=50', '?limit=100', '?limit=20&offset=20']) {
            const answer = await list.user.send(200, `GET /posts${query}`);
            expectEqual(answer, 'how many posts', answer.body.length, Number(/limit=(\d+)/.exec(query)?.[1] ?? 20));
            expectThat(!answer.body.some(({ author_id }: Post) => author_id === hidden.id), 'no hidden post', answer);
          }
          const seen = await friend.send(200, 'GET /posts?limit=100');
          const ids = idsOf(seen.body.filter(({ author_id }: Post) => author_id === hidden.id));
          expectEqual(seen, 'the posts of a friend', ids, idsOf(hiddenPosts));
        }),
    ),

    rule(
      'posts.created-at',
      'created_at is the time of creation, about now, and the same in the response, the single post and both lists.',
      async (cast) => {
        const { reader } = await timeline(cast);
        const post = await publish(reader);
        const answer = await reader.send(200, `GET /posts/${post.id}`);
        wantNow(answer, 'created_at', post.created_at);
        expectEqual(answer, 'created_at', answer.body.created_at, post.created_at);
        for (const path of ['/posts/me', '/posts?limit=100']) {
          const list = await reader.send(200, `GET ${path}`);
          const entry = list.body.find(({ id }: Post) => id === post.id);
          expectEqual(list, 'created_at in the list', entry?.created_at, post.created_at);
        }
        const later = await publish(reader);
        expectThat(later.created_at >= post.created_at && later.id > post.id, 'a later time and a higher id', answer);
        for (const { id } of [post, later]) await reader.send(200, `DELETE /posts/delete?id=${id}`);
      },
    ),

    rule(
      'friends.list.entry',
      'An entry of GET /friends equals GET /profiles/{id}: the full profile, also of private accounts.',
      async (cast) => {
        const { viewers, owned } = await audience(cast);
        const answer = await viewers.friend.send(200, 'GET /friends');
        const ids = answer.body.map(({ id }: { id: number }) => id);
        const wanted = [...Object.values(owned).map(({ owner }) => owner.id), viewers.friendOfFriend.id];
        expectEqual(
          answer,
          'the friends, by id',
          ids,
          wanted.sort((one, other) => one - other),
        );
        for (const entry of answer.body) {
          const profile = await viewers.friend.send(200, `GET /profiles/${entry.id}`);
          expectEqual(answer, 'the entry', entry, profile.body);
          expectEqual(
            answer,
            'private',
            entry.private,
            [owned.private, owned['was-public']].some(({ owner }) => owner.id === entry.id),
          );
        }
      },
    ),

    rule(
      'friends.requests.entry',
      'An entry of GET /friends/requests equals GET /profiles/{id}: the full profile if public, else id, name and username.',
      async (cast) => {
        const { viewers, owned } = await audience(cast);
        const answer = await viewers.requested.send(200, 'GET /friends/requests');
        const ids = answer.body.map(({ id }: { id: number }) => id);
        const wanted = Object.values(owned).map(({ owner }) => owner.id);
        expectEqual(
          answer,
          'who has sent a request, by id',
          ids,
          wanted.sort((one, other) => one - other),
        );
        for (const entry of answer.body) {
          const profile = await viewers.requested.send(200, `GET /profiles/${entry.id}`);
          expectEqual(answer, 'the entry', entry, profile.body);
        }
        const open = answer.body.find(({ id }: { id: number }) => id === owned.public.owner.id);
        expectEqual(answer, 'the picture of a public account', open?.profile_link, owned.public.picture);
      },
    ),

    rule(
      'friends.lists.apart',
      'GET /friends has friends only, GET /friends/requests incoming requests only.',
      async (cast) => {
        const { viewers, owned } = await audience(cast);
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
            const answer = await user.send(200, `GET ${path}`);
            const ids = answer.body.map(({ id }: { id: number }) => id);
            expectEqual(
              answer,
              'the ids',
              ids,
              [...wanted].sort((one, other) => one - other),
            );
          }
        }
      },
    ),

    rule(
      'sessions.list.entries',
      'GET /auth/sessions has one entry for each login: its id, device name, times about now, and which one is current.',
      async (cast) => {
        const user = await cast.register();
        const devices = [`Contract Kit ${'x'.repeat(100)}`, 'Kit/2.0 (a test)'];
        const logins = [];
        for (const device of devices) logins.push(await cast.login(user, { 'User-Agent': device }));
        const current = logins.at(-1) as CheckedResponse;
        const answer = await cast.anonymous.send(200, 'GET /auth/sessions', { token: current.body.token });
        expectEqual(answer, 'how many sessions', answer.body.length, 3);
        for (const { body } of logins) {
          wantFuture(current, body.expires_at);
          const jti = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url').toString()).jti;
          const entry = answer.body.find(({ id }: { id: string }) => id === jti);
          expectThat(entry, `a session ${jti}`, answer);
          expectEqual(answer, 'current', entry.current, body.token === current.body.token);
        }
        const names = answer.body.map(({ device_name }: { device_name: string }) => device_name);
        expectEqual(answer, 'the device names', names.sort(), [...devices, 'Unknown device'].sort());
        for (const { created_at, last_used_at } of answer.body) {
          wantNow(answer, 'created_at', created_at);
          wantNow(answer, 'last_used_at', last_used_at);
          expectThat(last_used_at >= created_at, 'last_used_at not before created_at', answer);
        }
      },
    ),
  ],
};

function wantFuture(answer: CheckedResponse, time: string): void {
  expectThat(Date.parse(time) > Date.now() + 1000, `a time in the future, not ${time}`, answer);
}
