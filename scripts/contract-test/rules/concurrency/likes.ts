import { expectEqual } from '../../expect.js';
import { publish, UNUSED_ID, visibilityFixture } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { User } from '../../users.js';
import { copies, ROUNDS_PER_RACE, race, raceRule } from './races.js';

async function readLikes({ send }: User, id: number): Promise<[count: number, likedByMe: boolean]> {
  const { like_count, liked_by_me } = (await send(200, `GET /posts/${id}`)).body;
  return [like_count, liked_by_me];
}

export const likeRaces: Rule[] = [
  raceRule(
    'concurrency.likes.same-user',
    'Concurrent likes of a post by the same user all return 200 and count once. Concurrent unlikes by the same user all return 200 and remove the like.',
    async ({ one, other }, _, users) => {
      const { id } = await users.shared('post that is liked repeatedly', () => publish(one));
      const [liked] = await race(200, ...copies(4, other, `POST /posts/like?id=${id}`));
      expectEqual(liked, 'the likes', await readLikes(other, id), [1, true]);
      const [unliked] = await race(200, ...copies(4, other, `DELETE /posts/like?id=${id}`));
      expectEqual(unliked, 'the likes', await readLikes(other, id), [0, false]);
    },
  ),

  raceRule(
    'concurrency.likes.users',
    'Concurrent likes of a post by several users all count. After a concurrent like and unlike by the same user, like_count and liked_by_me agree.',
    async ({ one, other }, _, users) => {
      const third = await users.sharedUser('ada');
      const { id } = await publish(one);
      const like = `POST /posts/like?id=${id}`;
      const [response] = await race(200, [one, like], [other, like], [third, like]);
      expectEqual(response, 'the likes', await readLikes(one, id), [3, true]);
      await race(200, [other, like], [other, `DELETE /posts/like?id=${id}`]);
      const [count, likedByMe] = await readLikes(other, id);
      expectEqual(response, 'the likes', count, likedByMe ? 3 : 2);
    },
  ),

  rule(
    'concurrency.likes.posts',
    'Concurrent likes and unlikes of several posts by several users each take effect, or return 404 if the user cannot see the post.',
    async (users) => {
      const { owned, viewers } = await visibilityFixture(users);
      const owner = owned.public.owner;
      const visible = [await publish(owner), await publish(owner)];
      const hidden = await publish(owned.private.owner);
      const participants = [viewers.friend, viewers.stranger, viewers.requester];
      for (let round = 0; round < ROUNDS_PER_RACE; round++) {
        const likes = (user: number, post: number) => (user + post + round) % 2 === 0;
        const method = (user: number, post: number) => (likes(user, post) ? 'POST' : 'DELETE');
        await Promise.all(
          participants.flatMap(({ send }, user) => [
            send(user === 0 ? 200 : 404, `POST /posts/like?id=${hidden.id}`),
            send(404, `POST /posts/like?id=${UNUSED_ID}`),
            ...visible.map(({ id }, post) => send(200, `${method(user, post)} /posts/like?id=${id}`)),
          ]),
        );
        for (const [post, { id }] of visible.entries()) {
          const count = participants.filter((_, user) => likes(user, post)).length;
          for (const [user, reader] of participants.entries()) {
            const response = await reader.send(200, `GET /posts/${id}`);
            expectEqual(response, 'the likes', await readLikes(reader, id), [count, likes(user, post)]);
          }
        }
      }
      const response = await viewers.friend.send(200, `GET /posts/${hidden.id}`);
      expectEqual(response, 'the likes of the hidden post', await readLikes(viewers.friend, hidden.id), [1, true]);
    },
  ),

  raceRule(
    'concurrency.like-delete',
    'A like of a post that is deleted at the same time returns 200 or 404, and the post is deleted.',
    async ({ one, other }) => {
      const { id } = await publish(one);
      await Promise.all([
        one.send(200, `DELETE /posts/delete?id=${id}`),
        other.send([200, 404], `POST /posts/like?id=${id}`),
        other.send([200, 404], `GET /posts/${id}`),
      ]);
      await other.send(404, `GET /posts/${id}`);
      await other.send(404, `POST /posts/like?id=${id}`);
    },
  ),
];
