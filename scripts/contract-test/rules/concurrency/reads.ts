import { expectEqual } from '../../expect.js';
import { makeFriends, type Post, png, publish } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { User } from '../../users.js';
import { ROUNDS_PER_RACE } from './races.js';

/** The number of times that each user sends each request at the same time. */
const COPIES = 3;

const FEED = 'GET /posts?limit=100';

export const concurrentReads: Rule = rule(
  'concurrency.reads',
  'Requests that several users send at the same time return the same as requests one after another: what each user sees and likes is not mixed up.',
  async (users) => {
    const [owner, friend, stranger] = (await Promise.all([users.register(), users.register(), users.register()])) as [
      User,
      User,
      User,
    ];
    const picture = (await owner.send(200, 'PUT /profiles/me', { form: { private: 'true', image: png() } })).body
      .profile_link;
    await makeFriends(owner, friend);
    const hidden = await publish(owner, { image: png() });
    const open = await publish(stranger);
    await friend.send(200, `POST /posts/like?id=${hidden.id}`);
    await friend.send(200, `POST /posts/like?id=${open.id}`);
    const requests = [
      'GET /auth/me',
      'GET /friends',
      'GET /posts/me',
      FEED,
      `GET /profiles/${owner.id}`,
      `GET /posts/${hidden.id}`,
      `GET /posts/${open.id}`,
      `GET ${hidden.image}`,
      `GET ${picture}`,
    ];
    const read = async ({ send }: User, request: string) => {
      const response = await send([200, 404], request);
      const { status, body, bytes } = response;
      // Other posts in the feed may change meanwhile.
      const content = request === FEED ? body.filter(({ id }: Post) => id === hidden.id || id === open.id) : body;
      return { response, result: { status, content: content ?? bytes.toString('base64') } };
    };
    const reads = requests.flatMap((request) => [owner, friend, stranger].map((user) => ({ user, request })));
    const alone: unknown[] = [];
    for (const { user, request } of reads) alone.push((await read(user, request)).result);
    for (let round = 0; round < ROUNDS_PER_RACE; round++) {
      const together = await Promise.all(
        reads.flatMap(({ user, request }) => Array.from({ length: COPIES }, () => read(user, request))),
      );
      for (const [index, { response, result }] of together.entries())
        expectEqual(response, 'the response, as to a request alone', result, alone[Math.floor(index / COPIES)]);
    }
  },
);
