import type { CheckedResponse } from '../../client/index.js';
import { expectEqual, expectThat, SkippedError } from '../../expect.js';
import { idsOf, type Post } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { TestUsers, User } from '../../users.js';
import { newestFirst, timeline } from './timeline.js';

/** One of the two lists, as read by a user who cannot see the posts of the private account. */
interface List {
  path: '/posts' | '/posts/me';
  user: User;
  /** All posts of the list, or the first 200 of them. */
  expected: Post[];
}

/**
 * Checks a list against its expected posts. The feed is checked up to five times if other users publish meanwhile.
 *
 * @throws ExpectationError if `check` fails on a feed that has not changed
 * @throws SkippedError if the feed keeps changing
 */
export async function checkList(users: TestUsers, path: List['path'], check: (list: List) => Promise<void>) {
  const { author, ownPosts, reader } = await timeline(users);
  if (path === '/posts/me') return check({ path, user: author, expected: ownPosts });
  for (let attempt = 1; ; attempt++) {
    const expected = await firstPosts(reader);
    try {
      return await check({ path, user: reader, expected });
    } catch (error) {
      if (idsOf(await firstPosts(reader)).join() === idsOf(expected).join()) throw error;
      if (attempt === 5) throw new SkippedError('other users keep publishing posts');
    }
  }
}

async function firstPosts({ send }: User): Promise<Post[]> {
  const pages = [await send(200, 'GET /posts?limit=100'), await send(200, 'GET /posts?limit=100&offset=100')];
  return pages.flatMap(({ body }) => body);
}

/** Requests a page of a list, and checks that it has the expected posts from index `from` to index `to`, exclusive. */
async function expectPage({ user, path, expected }: List, query: string, from: number, to: number) {
  const response = await user.send(200, `GET ${path}${query}`);
  expectEqual(response, `the ids from offset ${from}`, idsOf(response.body), idsOf(expected.slice(from, to)));
  return response;
}

/** Returns the path of the next page. */
export function nextPagePath(response: CheckedResponse): string {
  const [, next] = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
  expectThat(next, 'a Link to the next page', response);
  const { pathname, search } = new URL(next, 'http://base/');
  return `${pathname}${search}`;
}

const PAGE_RULES: [id: string, sentence: string, check: (list: List) => Promise<void>][] = [
  ['default-limit', 'returns 20 posts if limit is absent', async (list) => void (await expectPage(list, '', 0, 20))],
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
    'returns a Link with rel="next" to the next page of the same size while there are more posts, also for HEAD',
    async (list) => {
      for (const [query, size, pages] of [
        ['', 20, 3],
        ['?limit=33', 33, 3],
        ['?limit=100', 100, 2],
      ] as const) {
        let response = await expectPage(list, query, 0, size);
        const head = await list.user.send(200, `HEAD ${list.path}${query}`);
        expectEqual(head, 'Link', head.headers.get('link'), response.headers.get('link'));
        for (let page = 1; page < pages; page++) {
          response = await list.user.send(200, `GET ${nextPagePath(response)}`);
          const ids = idsOf(list.expected.slice(page * size, (page + 1) * size));
          expectEqual(response, `page ${page + 1}`, idsOf(response.body), ids);
        }
      }
    },
  ],
  [
    'beyond',
    'returns an empty list without a Link if offset is beyond the last post',
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

export const pageRules = (['/posts', '/posts/me'] as const).flatMap((path) =>
  PAGE_RULES.map(([id, sentence, check]) =>
    rule(`posts.list.${id}.${path === '/posts' ? 'feed' : 'own'}`, `GET ${path} ${sentence}.`, (users) =>
      checkList(users, path, check),
    ),
  ),
);
