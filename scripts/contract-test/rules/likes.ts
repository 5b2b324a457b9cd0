import type { Asker } from '../cast.js';
import { problems, rule, type Subject, same } from '../rule.js';
import { befriend, part, publish } from '../scenes.js';

const LIKE = 'Posts, POST /posts/like';
const UNLIKE = 'Posts, DELETE /posts/like';

async function likesAre({ ask }: Asker, post: number, count: number, mine: boolean): Promise<void> {
  const answer = await ask(200, `GET /posts/${post}`);
  same(answer, 'like_count and liked_by_me', [answer.body.like_count, answer.body.liked_by_me], [count, mine]);
}

export const likes: Subject = {
  name: 'Likes',
  rules: [
    rule(LIKE, '200 {message}; idempotent', async (cast) => {
      const [ada, ben] = [await cast.person('ada'), await cast.person('ben')];
      const { id } = await publish(ada);
      await ben.ask(200, `POST /posts/like?id=${id}`);
      await ben.ask(200, `POST /posts/like?id=${id}`);
      await likesAre(ben, id, 1, true);
    }),

    rule(UNLIKE, '200 {message}; idempotent', async (cast) => {
      const [ada, ben] = [await cast.person('ada'), await cast.person('ben')];
      const { id } = await publish(ada);
      await ben.ask(200, `POST /posts/like?id=${id}`);
      await ben.ask(200, `DELETE /posts/like?id=${id}`);
      await likesAre(ben, id, 0, false);
      await ben.ask(200, `DELETE /posts/like?id=${id}`);
      await likesAre(ben, id, 0, false);
    }),

    rule('Post, like_count', 'number of LIKES relationships to the post', async (cast) => {
      const [ada, ben, cleo] = [await cast.person('ada'), await cast.person('ben'), await cast.person('cleo')];
      const { id } = await publish(ada);
      for (const { ask } of [ada, ben, cleo]) await ask(200, `POST /posts/like?id=${id}`);
      await likesAre(ada, id, 3, true);
      await ben.ask(200, `DELETE /posts/like?id=${id}`);
      await likesAre(cleo, id, 2, true);
    }),

    rule('Post, liked_by_me', 'whether the token user has liked the post: in lists too', async (cast) => {
      const [ada, ben] = [await cast.person('ada'), await cast.person('ben')];
      const { id } = await publish(ada);
      await ada.ask(200, `POST /posts/like?id=${id}`);
      await likesAre(ben, id, 1, false);
      const answer = await ada.ask(200, 'GET /posts/me?limit=100');
      const post = answer.body.find((one: { id: number }) => one.id === id);
      same(answer, 'the post in the list', [post?.like_count, post?.liked_by_me], [1, true]);
    }),

    rule(LIKE, '404 if not found', async (cast) => {
      await (await cast.person('ada')).ask(404, 'POST /posts/like?id=9007199254740991');
    }),

    rule(UNLIKE, '404 if not found', async (cast) => {
      await (await cast.person('ada')).ask(404, 'DELETE /posts/like?id=9007199254740991');
    }),

    rule(LIKE, '400 if id invalid', async (cast) => {
      const { ask } = await cast.person('ada');
      for (const id of ['0', '-1', '1.5', '1e3', '01', 'abc', '', '9007199254740992']) {
        problems(await ask(400, `POST /posts/like?id=${id}`), 'query.id');
        problems(await ask(400, `DELETE /posts/like?id=${id}`), 'query.id');
      }
      problems(await ask(400, 'POST /posts/like'), 'query.id');
    }),

    rule(
      'Rules',
      'A like by someone who can no longer see the post stays, counts, and is theirs again',
      async (cast) => {
        const [pia, cleo] = [await cast.person('lee'), await cast.person('cleo')];
        await part(pia, cleo);
        const { id } = await publish(pia);
        await cleo.ask(200, `POST /posts/like?id=${id}`);
        await pia.ask(200, 'PUT /profiles/me', { form: { private: 'true' } });
        await cleo.ask(404, `DELETE /posts/like?id=${id}`);
        await likesAre(pia, id, 1, false);
        await befriend(cleo, pia);
        await likesAre(cleo, id, 1, true);
        await part(pia, cleo);
        await pia.ask(200, 'PUT /profiles/me', { form: { private: 'false' } });
      },
    ),
  ],
};
