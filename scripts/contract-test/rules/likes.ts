import { expectEqual } from '../expect.js';
import { clearRelation, crowd, findInFeed, makeFriends, type Post, png, publish, UNUSED_ID } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { Requester } from '../users.js';

async function expectLikes({ send }: Requester, post: number, count: number, mine: boolean): Promise<void> {
  const response = await send(200, `GET /posts/${post}`);
  expectEqual(
    response,
    'like_count and liked_by_me',
    [response.body.like_count, response.body.liked_by_me],
    [count, mine],
  );
}

export const likes: Subject = {
  name: 'Likes',
  rules: [
    rule(
      'likes.like.idempotent',
      'POST /posts/like?id=<id> returns 200 {message} and is idempotent.',
      async (users) => {
        const [ada, ben] = [await users.sharedUser('ada'), await users.sharedUser('ben')];
        const { id } = await publish(ada);
        await ben.send(200, `POST /posts/like?id=${id}`);
        await ben.send(200, `POST /posts/like?id=${id}`);
        await expectLikes(ben, id, 1, true);
        await ben.send(200, `DELETE /posts/like?id=${id}`);
        await ben.send(200, `POST /posts/like?id=${id}`);
        await expectLikes(ben, id, 1, true);
      },
    ),

    rule(
      'likes.unlike.idempotent',
      'DELETE /posts/like?id=<id> returns 200 {message} and is idempotent.',
      async (users) => {
        const [ada, ben] = [await users.sharedUser('ada'), await users.sharedUser('ben')];
        const { id } = await publish(ada);
        await ben.send(200, `DELETE /posts/like?id=${id}`);
        await expectLikes(ben, id, 0, false);
        await ben.send(200, `POST /posts/like?id=${id}`);
        await ben.send(200, `DELETE /posts/like?id=${id}`);
        await expectLikes(ben, id, 0, false);
        await ben.send(200, `DELETE /posts/like?id=${id}`);
        await expectLikes(ben, id, 0, false);
      },
    ),

    rule('posts.like-count.many', 'like_count counts the likes of all users.', async (users) => {
      const [ada, fans] = [await users.sharedUser('ada'), await crowd(users)];
      const { id } = await publish(ada);
      await Promise.all(fans.map(({ send }) => send(200, `POST /posts/like?id=${id}`)));
      await expectLikes(ada, id, fans.length, false);
    }),

    rule('posts.like-count.counts', 'like_count is the number of users who like the post.', async (users) => {
      const [ada, ben, cleo] = [
        await users.sharedUser('ada'),
        await users.sharedUser('ben'),
        await users.sharedUser('cleo'),
      ];
      const [{ id }, other] = [await publish(ada), await publish(ada)];
      for (const { send } of [ada, ben, cleo]) await send(200, `POST /posts/like?id=${id}`);
      await expectLikes(ada, id, 3, true);
      await expectLikes(ada, other.id, 0, false);
      await ben.send(200, `DELETE /posts/like?id=${id}`);
      await expectLikes(cleo, id, 2, true);
    }),

    rule(
      'posts.liked-by-me.own-likes',
      'liked_by_me and like_count state who likes the post at the moment, also in lists and in the response to an edit.',
      async (users) => {
        const [ada, ben] = [await users.sharedUser('ada'), await users.sharedUser('ben')];
        const { id } = await publish(ada);
        const expectInFeed = async (count: number) => {
          const { response } = await findInFeed(ben, { id }, 100);
          const entry = response.body.find(({ id: postId }: Post) => postId === id);
          expectEqual(response, 'the post in the feed', [entry?.like_count, entry?.liked_by_me], [count, false]);
        };
        await expectInFeed(0);
        await ada.send(200, `POST /posts/like?id=${id}`);
        await expectInFeed(1);
        await expectLikes(ben, id, 1, false);
        const response = await ada.send(200, 'GET /posts/me?limit=100');
        const post = response.body.find(({ id: postId }: Post) => postId === id);
        expectEqual(response, 'the post in the list', [post?.like_count, post?.liked_by_me], [1, true]);
        const edit = await ada.send(200, `PUT /posts/edit?id=${id}`, { form: { title: 'Edited' } });
        expectEqual(edit, 'the post after an edit', [edit.body.like_count, edit.body.liked_by_me], [1, true]);
      },
    ),

    rule('likes.like.missing-post', 'POST /posts/like returns 404 if the post is not found.', async (users) => {
      await (await users.sharedUser('ada')).send(404, `POST /posts/like?id=${UNUSED_ID}`);
    }),

    rule('likes.unlike.missing-post', 'DELETE /posts/like returns 404 if the post is not found.', async (users) => {
      await (await users.sharedUser('ada')).send(404, `DELETE /posts/like?id=${UNUSED_ID}`);
    }),

    rule(
      'likes.like.survives-hiding',
      'A like stays and counts if its user can no longer see the post and its image, and liked_by_me is true once they can see them again.',
      async (users) => {
        const [lee, cleo] = [await users.sharedUser('lee'), await users.sharedUser('cleo')];
        await clearRelation(lee, cleo);
        const { id, image } = await publish(lee, { image: png() });
        await cleo.send(200, `POST /posts/like?id=${id}`);
        await lee.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
        for (const path of [`/posts/${id}`, image]) await cleo.send(404, `GET ${path}`);
        for (const method of ['POST', 'DELETE']) await cleo.send(404, `${method} /posts/like?id=${id}`);
        await expectLikes(lee, id, 1, false);
        await makeFriends(cleo, lee);
        await expectLikes(cleo, id, 1, true);
        await clearRelation(lee, cleo);
        await expectLikes(lee, id, 1, false);
        await makeFriends(cleo, lee);
        await cleo.send(200, `DELETE /posts/like?id=${id}`);
        await expectLikes(lee, id, 0, false);
        await clearRelation(lee, cleo);
        await lee.send(200, 'PUT /profiles/me', { form: { private: 'false' } });
      },
    ),
  ],
};
