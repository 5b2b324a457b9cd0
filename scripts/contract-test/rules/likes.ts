import { expectEqual } from '../expect.js';
import {
  clearRelation,
  findInFeed,
  makeFriends,
  manyUsers,
  type Post,
  pngFile,
  publish,
  UNUSED_ID,
} from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { Requester } from '../users.js';

const likesOf = (post: Post | undefined) => [post?.like_count, post?.liked_by_me];

async function expectLikes({ send }: Requester, postId: number, count: number, likedByMe: boolean): Promise<void> {
  const response = await send(200, `GET /posts/${postId}`);
  expectEqual(response, 'like_count and liked_by_me', likesOf(response.body), [count, likedByMe]);
}

/** Like and unlike, each with the method of the opposite operation, and the `like_count` and `liked_by_me` afterwards. */
const METHODS: { name: string; method: string; opposite: string; expected: [count: number, likedByMe: boolean] }[] = [
  { name: 'like', method: 'POST', opposite: 'DELETE', expected: [1, true] },
  { name: 'unlike', method: 'DELETE', opposite: 'POST', expected: [0, false] },
];

export const likes: Subject = {
  name: 'Likes',
  rules: [
    ...METHODS.flatMap(({ name, method, opposite, expected }) => [
      rule(
        `likes.${name}.idempotent`,
        `${method} /posts/like?id=<id> returns 200 {message} and is idempotent.`,
        async (users) => {
          const [ada, ben] = [await users.sharedUser('ada'), await users.sharedUser('ben')];
          const { id } = await publish(ada);
          for (const sent of [method, method, opposite, method, method]) {
            await ben.send(200, `${sent} /posts/like?id=${id}`);
            if (sent === method) await expectLikes(ben, id, ...expected);
          }
        },
      ),

      rule(
        `likes.${name}.missing-post`,
        `${method} /posts/like returns 404 if the post is not found.`,
        async (users) => {
          await (await users.sharedUser('ada')).send(404, `${method} /posts/like?id=${UNUSED_ID}`);
        },
      ),
    ]),

    rule('posts.like-count.many', 'like_count counts the concurrent likes of many users.', async (users) => {
      const [ada, others] = [await users.sharedUser('ada'), await manyUsers(users)];
      const { id } = await publish(ada);
      await Promise.all(others.map(({ send }) => send(200, `POST /posts/like?id=${id}`)));
      await expectLikes(ada, id, others.length, false);
    }),

    rule('posts.like-count.counts', 'like_count is the number of users who like the post.', async (users) => {
      const [ada, ben] = [await users.sharedUser('ada'), await users.sharedUser('ben')];
      const cleo = await users.sharedUser('cleo');
      const [{ id }, other] = [await publish(ada), await publish(ada)];
      for (const { send } of [ada, ben, cleo]) await send(200, `POST /posts/like?id=${id}`);
      await expectLikes(ada, id, 3, true);
      await expectLikes(ada, other.id, 0, false);
      await ben.send(200, `DELETE /posts/like?id=${id}`);
      await expectLikes(cleo, id, 2, true);
    }),

    rule(
      'posts.liked-by-me.own-likes',
      'liked_by_me and like_count are up to date in the post, in lists and in the response to an edit.',
      async (users) => {
        const [ada, ben] = [await users.sharedUser('ada'), await users.sharedUser('ben')];
        const { id } = await publish(ada);
        const isPost = (post: Post) => post.id === id;
        const expectInFeed = async (count: number) => {
          const { response } = await findInFeed(ben, { id }, 100);
          expectEqual(response, 'the post in the feed', likesOf(response.body.find(isPost)), [count, false]);
        };
        await expectInFeed(0);
        await ada.send(200, `POST /posts/like?id=${id}`);
        await expectInFeed(1);
        await expectLikes(ben, id, 1, false);
        const response = await ada.send(200, 'GET /posts/me?limit=100');
        expectEqual(response, 'the post in the list', likesOf(response.body.find(isPost)), [1, true]);
        const edit = await ada.send(200, `PUT /posts/edit?id=${id}`, { form: { title: 'Edited' } });
        expectEqual(edit, 'the post after an edit', likesOf(edit.body), [1, true]);
      },
    ),

    rule(
      'likes.like.survives-hiding',
      'A like stays and counts while its user cannot see the post and its image, and liked_by_me is true once they can see the post again.',
      async (users) => {
        const [lee, cleo] = [await users.sharedUser('lee'), await users.sharedUser('cleo')];
        await clearRelation(lee, cleo);
        const { id, image } = await publish(lee, { image: pngFile() });
        await cleo.send(200, `POST /posts/like?id=${id}`);
        await lee.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
        for (const path of [`/posts/${id}`, image]) await cleo.send(404, `GET ${path}`);
        for (const method of ['POST', 'DELETE']) await cleo.send(404, `${method} /posts/like?id=${id}`);
        await expectLikes(lee, id, 1, false);
        await makeFriends(cleo, lee);
        await expectLikes(cleo, id, 1, true);
        // Either friend can end a friendship.
        for (const [one, other] of [
          [lee, cleo],
          [cleo, lee],
        ] as const) {
          await clearRelation(one, other);
          await expectLikes(lee, id, 1, false);
          await makeFriends(cleo, lee);
        }
        await cleo.send(200, `DELETE /posts/like?id=${id}`);
        await expectLikes(lee, id, 0, false);
        await clearRelation(lee, cleo);
        await lee.send(200, 'PUT /profiles/me', { form: { private: 'false' } });
      },
    ),
  ],
};
