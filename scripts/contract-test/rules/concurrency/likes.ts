import type { CheckedResponse } from '../../exchange.js';
import { expectEqual } from '../../expect.js';
import { publish, UNUSED_ID, visibilityFixture } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { User } from '../../users.js';
import { getPair, type Request, ROUNDS_PER_RACE, race } from './races.js';

async function likesOf({ send }: User, id: number): Promise<[number, boolean]> {
  const { like_count, liked_by_me } = (await send(200, `GET /posts/${id}`)).body;
  return [like_count, liked_by_me];
}

export const likeRaces: Rule[] = [
  rule(
    'concurrency.likes.same-user',
    'Concurrent likes of a post by the same user all return 200 and count once. Concurrent unlikes by the same user all return 200 and remove the like.',
    async (users) => {
      const { one, other } = await getPair(users);
      const { id } = await publish(one);
      for (let round = 0; round < ROUNDS_PER_RACE; round++) {
        const likes = await race(
          [200],
          ...Array.from({ length: 4 }, (): Request => [other, `POST /posts/like?id=${id}`]),
        );
        expectEqual(likes[0] as CheckedResponse, 'the likes', await likesOf(other, id), [1, true]);
        const unlikes = await race(
          [200],
          ...Array.from({ length: 4 }, (): Request => [other, `DELETE /posts/like?id=${id}`]),
        );
        expectEqual(unlikes[0] as CheckedResponse, 'the likes', await likesOf(other, id), [0, false]);
      }
    },
  ),

  rule(
    'concurrency.likes.users',
    'Concurrent likes of a post by several users all count. After a concurrent like and unlike by the same user, like_count and liked_by_me agree.',
    async (users) => {
      const { one, other } = await getPair(users);
      const third = await users.sharedUser('ada');
      for (let round = 0; round < ROUNDS_PER_RACE; round++) {
        const { id } = await publish(one);
        const like = `POST /posts/like?id=${id}`;
        const responses = await race([200], [one, like], [other, like], [third, like]);
        expectEqual(responses[0] as CheckedResponse, 'the likes', await likesOf(one, id), [3, true]);
        await race([200], [other, like], [other, `DELETE /posts/like?id=${id}`]);
        const [count, mine] = await likesOf(other, id);
        expectEqual(responses[0] as CheckedResponse, 'the likes', count, mine ? 3 : 2);
      }
    },
  ),

  rule(
    'concurrency.likes.posts',
    'Concurrent likes and unlikes of several posts by several users each take effect, or return 404 if the user cannot see the post.',
    async (users) => {
      const { owned, viewers } = await visibilityFixture(users);
      const owner = owned.public.owner;
      const open = [await publish(owner), await publish(owner)];
      const hidden = await publish(owned.private.owner);
      const participants = [viewers.friend, viewers.stranger, viewers.requester];
      for (let round = 0; round < ROUNDS_PER_RACE; round++) {
        const likes = (user: number, post: number) => (user + post + round) % 2 === 0;
        const method = (user: number, post: number) => (likes(user, post) ? 'POST' : 'DELETE');
        await Promise.all(
          participants.flatMap(({ send }, user) => [
            send(user === 0 ? 200 : 404, `POST /posts/like?id=${hidden.id}`),
            send(404, `POST /posts/like?id=${UNUSED_ID}`),
            ...open.map(({ id }, post) => send(200, `${method(user, post)} /posts/like?id=${id}`)),
          ]),
        );
        for (const [post, { id }] of open.entries()) {
          const wanted = participants.map((_, user) => likes(user, post));
          const count = wanted.filter(Boolean).length;
          for (const [user, mine] of wanted.entries()) {
            const reader = participants[user] as User;
            expectEqual(await reader.send(200, `GET /posts/${id}`), 'the likes', await likesOf(reader, id), [
              count,
              mine,
            ]);
          }
        }
      }
      const response = await viewers.friend.send(200, `GET /posts/${hidden.id}`);
      expectEqual(response, 'the likes of the hidden post', await likesOf(viewers.friend, hidden.id), [1, true]);
    },
  ),

  rule(
    'concurrency.like-delete',
    'A like of a post that is deleted at the same time returns 200 or 404, and the post is deleted.',
    async (users) => {
      const { one, other } = await getPair(users);
      for (let round = 0; round < ROUNDS_PER_RACE; round++) {
        const { id } = await publish(one);
        await Promise.all([
          one.send(200, `DELETE /posts/delete?id=${id}`),
          other.send([200, 404], `POST /posts/like?id=${id}`),
          other.send([200, 404], `GET /posts/${id}`),
        ]);
        await other.send(404, `GET /posts/${id}`);
        await other.send(404, `POST /posts/like?id=${id}`);
      }
    },
  ),
];
