import type { CheckedResponse } from '../../client/index.js';
import { expectCurrentTime, expectEqual, expectThat, SkippedError } from '../../expect.js';
import { idsOf, type Post, publish } from '../../fixtures.js';
import { type Rule, rule, type Subject } from '../../rule.js';
import type { User } from '../../users.js';
import { checkList, nextPagePath } from './pages.js';
import { newestFirst, POST_COUNT, timeline } from './timeline.js';

/** Checks that a list entry equals GET of the post by the same user, except for the comments. */
async function expectSameAsSingle({ send }: User, response: CheckedResponse, entry: Post): Promise<void> {
  const single = await send(200, `GET /posts/${entry.id}`);
  expectEqual(response, 'the entry with comments, as the single post', { ...entry, comments: [] }, single.body);
}

/** Counts the posts of the feed by binary search, because a service in use may have many. */
async function countFeedPosts({ send }: User): Promise<number> {
  const hasPostAt = async (offset: number) => (await send(200, `GET /posts?limit=1&offset=${offset}`)).body.length > 0;
  let count = 1;
  while (await hasPostAt(count)) count *= 2;
  let fewer = count / 2;
  while (count - fewer > 1) {
    const middle = (fewer + count) / 2;
    if (await hasPostAt(middle)) fewer = middle;
    else count = middle;
  }
  return count;
}

/**
 * Checks the last page of the feed for each of these page sizes, except those that exceed the number of posts.
 *
 * @throws SkippedError if the feed changes
 */
async function expectLastPages(user: User, limits: number[]): Promise<void> {
  const count = await countFeedPosts(user);
  const pages: [limit: number, response: CheckedResponse][] = [];
  for (const limit of limits.filter((limit) => limit <= count)) {
    pages.push([limit, await user.send(200, `GET /posts?limit=${limit}&offset=${count - limit}`)]);
  }
  if ((await countFeedPosts(user)) !== count) throw new SkippedError('other users publish or delete posts');
  for (const [limit, response] of pages) {
    expectEqual(response, 'the number of posts', response.body.length, limit);
    expectThat(!response.headers.has('link'), 'no Link on the last page', response);
  }
}

/** Checked before other rules publish posts, because a service may read a short feed differently. */
export const shortFeed: Subject = {
  name: 'Short feed',
  rules: [
    rule(
      'posts.list.last-page.short-feed',
      'The last page of a short feed has no Link, even if it is full and older posts are hidden from the user.',
      async (users) => {
        const [privateAuthor, ada] = [await users.register(), await users.sharedUser('ada')];
        await privateAuthor.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
        for (const author of [privateAuthor, ada, ada]) await publish(author);
        await expectLastPages(ada, [1, 2]);
      },
    ),
  ],
};

export const postListRules: Rule[] = [
  rule('posts.list.entry.own', 'An entry of GET /posts/me equals GET /posts/{id} without comments.', async (users) => {
    const { author, ownPosts } = await timeline(users);
    const response = await author.send(200, 'GET /posts/me?limit=100');
    expectEqual(response, 'the entries, as created', response.body, ownPosts.slice(0, 100));
    await Promise.all(response.body.slice(0, 8).map((entry: Post) => expectSameAsSingle(author, response, entry)));
  }),

  rule(
    'posts.list.entry.feed',
    'An entry of GET /posts equals GET /posts/{id} without comments, including the full text, author, image and likes.',
    async (users) => {
      const { reader, author, ownPosts, likedByReader, privateAuthor, privatePosts, friend } = await timeline(users);
      for (const [user, posts] of [
        [reader, ownPosts.map((post) => ({ ...post, liked_by_me: likedByReader.has(post.id) }))],
        [author, ownPosts],
        [friend, privatePosts.map((post) => ({ ...post, liked_by_me: post.like_count > 0 }))],
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
    const before = await author.send(200, 'GET /posts/me?limit=35&offset=69');
    const last = await author.send(200, `GET ${nextPagePath(before)}`);
    expectEqual(last, 'the number of posts on the last page', last.body.length, 1);
  }),

  rule('posts.list.last-page.feed', 'The last page of GET /posts has no Link, even if it is full.', (users) =>
    checkList(users, '/posts', ({ user }) => expectLastPages(user, [1, 20, 100])),
  ),

  rule(
    'posts.list.filtered',
    'GET /posts omits posts that the user may not see, and its pages are still full. Posts of friends with private accounts are ordered like all others.',
    (users) =>
      checkList(users, '/posts', async (list) => {
        const { privateAuthor, privatePosts, friend } = await timeline(users);
        const isPrivate = (post: Post) => post.author_id === privateAuthor.id;
        for (const query of ['', '?limit=5', '?limit=50', '?limit=100', '?limit=20&offset=20']) {
          const response = await list.user.send(200, `GET /posts${query}`);
          const limit = Number(/limit=(\d+)/.exec(query)?.[1] ?? 20);
          expectEqual(response, 'the number of posts', response.body.length, limit);
          expectThat(!response.body.some(isPrivate), 'no post of the private account', response);
        }
        const seen = await friend.send(200, 'GET /posts?limit=100');
        expectEqual(seen, 'the posts of a friend', idsOf(seen.body.filter(isPrivate)), idsOf(privatePosts));
        expectEqual(seen, 'the order', idsOf(seen.body), idsOf([...seen.body].sort(newestFirst)));
      }),
  ),

  rule(
    'posts.created-at',
    'created_at is the time of creation. It is the same in the response to the creation, in GET /posts/{id} and in both lists.',
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
      const created = await reader.send(201, 'POST /posts/create', { form: { title: 'A title', text: 'A text' } });
      const later: Post = created.body;
      expectThat(later.created_at >= post.created_at && later.id > post.id, 'a later time and a higher id', created);
      for (const { id } of [post, later]) await reader.send(200, `DELETE /posts/delete?id=${id}`);
    },
  ),
];
