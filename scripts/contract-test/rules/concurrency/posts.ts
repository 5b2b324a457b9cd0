import { expectEqual } from '../../expect.js';
import { publish, textForm } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { expectOneSuccess, getPair, type Request, ROUNDS_PER_RACE, race } from './races.js';

export const postRaces: Rule[] = [
  rule(
    'concurrency.edit-delete',
    'An edit of a post that is deleted at the same time returns 200 or 404, and the post is deleted.',
    async (users) => {
      const { one } = await getPair(users);
      for (let round = 0; round < ROUNDS_PER_RACE; round++) {
        const { id } = await publish(one);
        await Promise.all([
          one.send([200, 404], `PUT /posts/edit?id=${id}`, textForm({ title: 'Edited' })),
          one.send(200, `DELETE /posts/delete?id=${id}`),
        ]);
        for (const request of [`GET /posts/${id}`, `DELETE /posts/delete?id=${id}`]) await one.send(404, request);
        await one.send(404, `PUT /posts/edit?id=${id}`, textForm({ title: 'Edited' }));
      }
    },
  ),

  rule('concurrency.edit-edit', 'Concurrent edits of different fields of a post both take effect.', async (users) => {
    const { one } = await getPair(users);
    for (let round = 0; round < ROUNDS_PER_RACE; round++) {
      const { id } = await publish(one);
      const request = `PUT /posts/edit?id=${id}`;
      await Promise.all([
        one.send(200, request, textForm({ title: 'Title by one' })),
        one.send(200, request, textForm({ text: 'Text by another' })),
      ]);
      const response = await one.send(200, `GET /posts/${id}`);
      expectEqual(
        response,
        'title and text',
        [response.body.title, response.body.text],
        ['Title by one', 'Text by another'],
      );
    }
  }),

  rule(
    'concurrency.delete-twice',
    'If a post is deleted several times at the same time, one deletion succeeds and the others return 404.',
    async (users) => {
      const { one } = await getPair(users);
      for (let round = 0; round < ROUNDS_PER_RACE; round++) {
        const { id } = await publish(one);
        expectOneSuccess(
          await race([200, 404], ...Array.from({ length: 3 }, (): Request => [one, `DELETE /posts/delete?id=${id}`])),
          'the deletion',
        );
      }
    },
  ),
];
