import type { CheckedResponse } from '../../client/index.js';
import { expectEqual, expectProblems, expectThat, SkippedError } from '../../expect.js';
import { idsOf, makeFriends, type Post, publish } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { User } from '../../users.js';
import { nextPagePath } from './pages.js';
import { numberedForms, publishAll, timeline } from './timeline.js';

const PATHS = ['/posts', '/posts/me'] as const;

/** Returns a cursor after the newest post, or after the newest posts. */
const cursorAfter = async ({ send }: User, path: string, posts = 1): Promise<string> =>
  cursorIn(await send(200, `GET ${path}?limit=${posts}`));

function cursorIn(response: CheckedResponse): string {
  const cursor = new URLSearchParams(nextPagePath(response).replace(/^[^?]*/, '')).get('cursor');
  expectThat(cursor, 'a cursor in the Link', response);
  return cursor;
}

const idsOfAuthor = (response: CheckedResponse, { id }: User) =>
  idsOf(response.body.filter(({ author_id }: Post) => author_id === id));

export const cursorRules: Rule[] = [
  ...PATHS.flatMap((path) => {
    const list = path === '/posts' ? 'feed' : 'own';
    return [
      rule(
        `posts.list.cursor.link.${list}`,
        `The Link of GET ${path} contains a cursor, or the next offset if the request contained an offset, even 0.`,
        async (users) => {
          const { author } = await timeline(users);
          for (const offset of [0, 3]) {
            const response = await author.send(200, `GET ${path}?limit=4&offset=${offset}`);
            const { searchParams } = new URL(nextPagePath(response), 'http://base/');
            expectEqual(response, 'the next offset', searchParams.get('offset'), String(offset + 4));
            expectThat(!searchParams.has('cursor'), 'no cursor', response);
          }
          const first = await author.send(200, `GET ${path}?limit=4`);
          const second = await author.send(200, `GET ${nextPagePath(first)}`);
          for (const response of [first, second]) {
            cursorIn(response);
            expectThat(!nextPagePath(response).includes('offset'), 'no offset', response);
          }
        },
      ),

      rule(
        `posts.list.cursor.malformed.${list}`,
        `GET ${path} refuses a malformed or repeated cursor with a 400 that names it.`,
        async (users) => {
          const { author } = await timeline(users);
          const cursor = await cursorAfter(author, path);
          // Not a letter or digit: appended to a cursor in Base64, it could be a digit of another well-formed cursor.
          const texts = ['', '7', 'x', '%F0%9F%90%9F', `${cursor}~`, `~${cursor}`, `${cursor}%20`, cursor.repeat(50)];
          for (const value of [...texts, `${cursor}&cursor=${cursor}`]) {
            expectProblems(await author.send(400, `GET ${path}?cursor=${value}`), 'query.cursor');
          }
          const response = await author.send(400, `GET ${path}?cursor=x&limit=0`);
          expectProblems(response, 'query.cursor', 'query.limit');
        },
      ),

      rule(
        `posts.list.cursor.offset.${list}`,
        `GET ${path} refuses a cursor together with an offset, even 0.`,
        async (users) => {
          const { author } = await timeline(users);
          const cursor = await cursorAfter(author, path);
          for (const offset of [0, 5]) {
            expectProblems(await author.send(400, `GET ${path}?cursor=${cursor}&offset=${offset}`), 'query.cursor');
          }
        },
      ),
    ];
  }),

  rule(
    'posts.list.cursor.other-list',
    'A cursor of GET /posts/me is also valid for GET /posts, and the other way round: the page starts after the same post.',
    async (users) => {
      const { author, ownPosts } = await timeline(users);
      const ownCursor = await cursorAfter(author, '/posts/me', 3);
      const feedPage = await author.send(200, `GET /posts?limit=20&cursor=${ownCursor}`);
      const inFeed = idsOfAuthor(feedPage, author);
      expectEqual(feedPage, 'the posts of the author', inFeed, idsOf(ownPosts.slice(3, 3 + inFeed.length)));
      expectThat(inFeed.length > 0, 'posts of the author', feedPage);

      const feedCursor = cursorIn(feedPage);
      const ownPage = await author.send(200, `GET /posts/me?limit=5&cursor=${feedCursor}`);
      const start = 3 + inFeed.length;
      expectEqual(ownPage, 'the ids', idsOf(ownPage.body), idsOf(ownPosts.slice(start, start + 5)));
    },
  ),

  rule(
    'posts.list.cursor.end',
    'A page whose cursor is after the last post is empty and has no Link, even if the post of the cursor was deleted.',
    async (users) => {
      const author = await users.register();
      const [older, newer] = [await publish(author), await publish(author)];
      const cursor = await cursorAfter(author, '/posts/me');
      for (const { id } of [older, newer]) {
        await author.send(200, `DELETE /posts/delete?id=${id}`);
        const page = await author.send(200, `GET /posts/me?cursor=${cursor}`);
        expectEqual(page, 'the posts', page.body, []);
        expectThat(!page.headers.has('link'), 'no Link', page);
      }
    },
  ),

  rule(
    'posts.list.cursor.changes',
    'Posts that are created or deleted after a page do not change where the next page starts.',
    async (users) => {
      const author = await users.register();
      const posts: Post[] = [];
      for (let count = 0; count < 6; count++) posts.unshift(await publish(author));
      const ids = idsOf(posts);
      const cursor = await cursorAfter(author, '/posts/me', 2);
      await publish(author);
      // The deleted post is the one that the cursor names.
      await author.send(200, `DELETE /posts/delete?id=${ids[1]}`);
      await author.send(200, `DELETE /posts/delete?id=${ids[3]}`);
      for (const path of PATHS) {
        const page = await author.send(200, `GET ${path}?limit=50&cursor=${cursor}`);
        const expected = [ids[2], ids[4], ids[5]];
        expectEqual(page, 'the posts of the author', idsOfAuthor(page, author), expected);
      }
    },
  ),

  rule(
    'posts.list.cursor.visibility',
    'A page from a cursor shows what the user may see now: if an account becomes private or a friendship ends, the posts that follow are hidden, and those of others still follow.',
    async (users) => {
      const [author, other, reader, friend] = await Promise.all([1, 2, 3, 4].map(() => users.register()));
      if (!author || !other || !reader || !friend) throw new Error('Expected four users');
      await makeFriends(friend, author);
      const posts: Post[] = [];
      for (const publisher of [other, author, author]) posts.unshift(await publish(publisher));
      const [newest, second, third] = posts as [Post, Post, Post];
      // Other users may publish meanwhile, so the cursor is that of the author's list.
      const cursor = await cursorAfter(author, '/posts/me');
      const expectShown = async (user: User, expected: Post[]) => {
        const page = await user.send(200, `GET /posts?limit=50&cursor=${cursor}`);
        const shown = page.body.filter(({ id }: Post) => [newest.id, second.id, third.id].includes(id));
        expectEqual(page, 'the posts of the authors', idsOf(shown), idsOf(expected));
      };
      for (const user of [reader, friend, author]) await expectShown(user, [second, third]);
      await author.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
      for (const user of [friend, author]) await expectShown(user, [second, third]);
      await expectShown(reader, [third]);
      await friend.send(200, `DELETE /friends/remove?id=${author.id}`);
      await expectShown(friend, [third]);
    },
  ),
];

/** More hidden posts in a row than a service may read ahead for a page. */
const HIDDEN_POSTS = 250;

/** More pages of posts of other users than are expected between the posts of the rule. */
const MAX_PAGES = 50;

export const hiddenRunRule = rule(
  'posts.list.cursor.hidden-run',
  `The Link of GET /posts leads to the next visible post, even if it follows after ${HIDDEN_POSTS} hidden ones.`,
  async (users) => {
    const { reader, author, ownPosts, privateAuthor, privatePosts, oldestPost } = await timeline(users);
    await author.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
    const forms = numberedForms(HIDDEN_POSTS - ownPosts.length - privatePosts.length);
    const hidden = [...ownPosts, ...privatePosts, ...(await publishAll(privateAuthor, forms))];
    const expected = [await publish(reader), oldestPost];
    const known = new Set(idsOf([...hidden, ...expected]));
    // Other users may publish meanwhile, so the walk starts after a post of a known user.
    await publish(privateAuthor);
    const cursor = await cursorAfter(privateAuthor, '/posts/me');
    for (const limit of [1, 20, 100]) {
      let path = `/posts?limit=${limit}&cursor=${cursor}`;
      const read: number[] = [];
      for (let pages = 1; ; pages++) {
        const page = await reader.send(200, `GET ${path}`);
        read.push(...idsOf<number>(page.body));
        const found = read.filter((id) => known.has(id));
        const ended = read.some((id) => id <= oldestPost.id) || !page.headers.has('link');
        if (ended) expectEqual(page, 'the posts from the cursor on, of the known users', found, idsOf(expected));
        if (ended) break;
        expectThat(page.body.length === limit, `${limit} posts, because there is a Link`, page);
        if (pages === MAX_PAGES) throw new SkippedError('other users keep publishing posts');
        path = nextPagePath(page);
      }
    }
  },
);
