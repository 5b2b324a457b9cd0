import { expectEqual } from '../../expect.js';
import { addContent, findInFeed, makeFriends, type Post, publish } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { User } from '../../users.js';
import { ROUNDS_PER_RACE } from './races.js';

/** The number of times that each user sends each request at the same time. */
const COPIES = 3;

/** Returns a response, and the part of it to compare. */
async function get({ send }: User, path: string) {
  const response = await send([200, 404], `GET ${path}`);
  return { response, result: [response.status, response.body ?? response.bytes.toString('base64')] };
}

/** Like `get`, for a post in the feed, in which other posts may appear meanwhile. */
async function getInFeed(user: User, post: Post) {
  const { response } = await findInFeed(user, post, 100);
  return { response, result: response.body.find(({ id }: Post) => id === post.id) ?? 'hidden' };
}

export const concurrentReads: Rule = rule(
  'concurrency.reads',
  'If several users send requests at the same time, each gets the same responses as when the requests are sent one after another.',
  async (users) => {
    const [owner, friend, stranger] = await Promise.all([users.register(), users.register(), users.register()]);
    const { post: hidden, picture } = await addContent(owner, true);
    await makeFriends(owner, friend);
    const visible = await publish(stranger);
    for (const { id } of [hidden, visible]) await friend.send(200, `POST /posts/like?id=${id}`);
    const paths = [
      '/auth/me',
      '/friends',
      '/posts/me',
      `/profiles/${owner.id}`,
      `/posts/${hidden.id}`,
      `/posts/${visible.id}`,
      hidden.image,
      picture,
    ];
    const requests = [
      ...paths.map((path) => (user: User) => get(user, path)),
      ...[hidden, visible].map((post) => (user: User) => getInFeed(user, post)),
    ];
    const reads = requests.flatMap((request) => [owner, friend, stranger].map((user) => () => request(user)));
    const alone: unknown[] = [];
    for (const read of reads) alone.push((await read()).result);
    for (let round = 0; round < ROUNDS_PER_RACE; round++) {
      const together = await Promise.all(reads.flatMap((read) => Array.from({ length: COPIES }, read)));
      for (const [index, { response, result }] of together.entries())
        expectEqual(response, 'the response, as without concurrency', result, alone[Math.floor(index / COPIES)]);
    }
  },
);
