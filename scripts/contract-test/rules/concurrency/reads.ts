import type { CheckedResponse } from '../../exchange.js';
import { expectEqual } from '../../expect.js';
import { findInFeed, makeFriends, type Post, png, publish } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { User } from '../../users.js';
import { ROUNDS_PER_RACE } from './races.js';

/** The number of times that each user sends each request at the same time. */
const COPIES = 3;

/** A response, and the part of it to compare. */
type Read = (user: User) => Promise<{ response: CheckedResponse; result: unknown }>;

const get =
  (path: string | null): Read =>
  async ({ send }) => {
    const response = await send([200, 404], `GET ${path}`);
    return { response, result: [response.status, response.body ?? response.bytes.toString('base64')] };
  };

/** Reads a post in the feed, in which other posts may appear meanwhile. */
const getInFeed =
  (post: Post): Read =>
  async (user) => {
    const { response } = await findInFeed(user, post, 100);
    return { response, result: response.body.find(({ id }: Post) => id === post.id) ?? 'hidden' };
  };

export const concurrentReads: Rule = rule(
  'concurrency.reads',
  'Requests that several users send at the same time return the same as requests one after another: what each user sees and likes is not mixed up.',
  async (users) => {
    const [owner, friend, stranger] = (await Promise.all([users.register(), users.register(), users.register()])) as [
      User,
      User,
      User,
    ];
    const form = { private: 'true', image: png() };
    const picture: string = (await owner.send(200, 'PUT /profiles/me', { form })).body.profile_link;
    await makeFriends(owner, friend);
    const hidden = await publish(owner, { image: png() });
    const open = await publish(stranger);
    for (const { id } of [hidden, open]) await friend.send(200, `POST /posts/like?id=${id}`);
    const paths = [
      '/auth/me',
      '/friends',
      '/posts/me',
      `/profiles/${owner.id}`,
      `/posts/${hidden.id}`,
      `/posts/${open.id}`,
      hidden.image,
      picture,
    ];
    const requests = [...paths.map(get), getInFeed(hidden), getInFeed(open)];
    const reads = requests.flatMap((read) => [owner, friend, stranger].map((user) => () => read(user)));
    const alone: unknown[] = [];
    for (const read of reads) alone.push((await read()).result);
    for (let round = 0; round < ROUNDS_PER_RACE; round++) {
      const together = await Promise.all(reads.flatMap((read) => Array.from({ length: COPIES }, read)));
      for (const [index, { response, result }] of together.entries())
        expectEqual(response, 'the response, as to a request alone', result, alone[Math.floor(index / COPIES)]);
    }
  },
);
