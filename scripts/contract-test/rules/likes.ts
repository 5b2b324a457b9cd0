import { expectEqual } from '../expect.js';
import { befriend, part, publish } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { Requester } from '../users.js';

async function likesAre({ send }: Requester, post: number, count: number, mine: boolean): Promise<void> {
  const answer = await send(200, `GET /posts/${post}`);
  expectEqual(answer, 'like_count and liked_by_me', [answer.body.like_count, answer.body.liked_by_me], [count, mine]);
}

export const likes: Subject = {
  name: 'Likes',
  rules: [
    rule('likes.like.idempotent', 'POST /posts/like?id=<id> returns 200 {message} and is idempotent.', async (cast) => {
      const [ada, ben] = [await cast.sharedUser('ada'), await cast.sharedUser('ben')];
      const { id } = await publish(ada);
      await ben.send(200, `POST /posts/like?id=${id}`);
      await ben.send(200, `POST /posts/like?id=${id}`);
      await likesAre(ben, id, 1, true);
      await ben.send(200, `DELETE /posts/like?id=${id}`);
      await ben.send(200, `POST /posts/like?id=${id}`);
      await likesAre(ben, id, 1, true);
    }),

    rule(
      'likes.unlike.idempotent',
      'DELETE /posts/like?id=<id> returns 200 {message} and is idempotent.',
      async (cast) => {
        const [ada, ben] = [await cast.sharedUser('ada'), await cast.sharedUser('ben')];
        const { id } = await publish(ada);
        await ben.send(200, `DELETE /posts/like?id=${id}`);
        await likesAre(ben, id, 0, false);
        await ben.send(200, `POST /posts/like?id=${id}`);
        await ben.send(200, `DELETE /posts/like?id=${id}`);
        await likesAre(ben, id, 0, false);
        await ben.send(200, `DELETE /posts/like?id=${id}`);
        await likesAre(ben, id, 0, false);
      },
    ),

    rule('posts.like-count.counts', 'like_count is the number of users who like the post.', async (cast) => {
      const [ada, ben, cleo] = [
        await cast.sharedUser('ada'),
        await cast.sharedUser('ben'),
        await cast.sharedUser('cleo'),
      ];
      const [{ id }, other] = [await publish(ada), await publish(ada)];
      for (const { send } of [ada, ben, cleo]) await send(200, `POST /posts/like?id=${id}`);
      await likesAre(ada, id, 3, true);
      await likesAre(ada, other.id, 0, false);
      await ben.send(200, `DELETE /posts/like?id=${id}`);
      await likesAre(cleo, id, 2, true);
    }),

    rule(
      'posts.liked-by-me.own-likes',
      'liked_by_me says whether the authenticated user likes the post, in lists and in the response to an edit too.',
      async (cast) => {
        const [ada, ben] = [await cast.sharedUser('ada'), await cast.sharedUser('ben')];
        const { id } = await publish(ada);
        await ada.send(200, `POST /posts/like?id=${id}`);
        await likesAre(ben, id, 1, false);
        const answer = await ada.send(200, 'GET /posts/me?limit=100');
        const post = answer.body.find((one: { id: number }) => one.id === id);
        expectEqual(answer, 'the post in the list', [post?.like_count, post?.liked_by_me], [1, true]);
        const edit = await ada.send(200, `PUT /posts/edit?id=${id}`, { form: { title: 'Edited' } });
        expectEqual(edit, 'the post after an edit', [edit.body.like_count, edit.body.liked_by_me], [1, true]);
      },
    ),

    rule('likes.like.missing-post', 'POST /posts/like returns 404 if the post is not found.', async (cast) => {
      await (await cast.sharedUser('ada')).send(404, 'POST /posts/like?id=9007199254740991');
    }),

    rule('likes.unlike.missing-post', 'DELETE /posts/like returns 404 if the post is not found.', async (cast) => {
      await (await cast.sharedUser('ada')).send(404, 'DELETE /posts/like?id=9007199254740991');
    }),

    rule(
      'likes.like.survives-hiding',
      'A like by a user who can no longer see the post stays and counts, and is theirs again when they can see it.',
      async (cast) => {
        const [pia, cleo] = [await cast.sharedUser('lee'), await cast.sharedUser('cleo')];
        await part(pia, cleo);
        const { id } = await publish(pia);
        await cleo.send(200, `POST /posts/like?id=${id}`);
        await pia.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
        for (const method of ['POST', 'DELETE']) await cleo.send(404, `${method} /posts/like?id=${id}`);
        await likesAre(pia, id, 1, false);
        await befriend(cleo, pia);
        await likesAre(cleo, id, 1, true);
        await part(pia, cleo);
        await likesAre(pia, id, 1, false);
        await befriend(cleo, pia);
        await cleo.send(200, `DELETE /posts/like?id=${id}`);
        await likesAre(pia, id, 0, false);
        await part(pia, cleo);
        await pia.send(200, 'PUT /profiles/me', { form: { private: 'false' } });
      },
    ),
  ],
};
