import { expectEqual } from '../../expect.js';
import { publish, textForm } from '../../fixtures.js';
import type { Rule } from '../../rule.js';
import { copies, expectOneSuccess, race, raceRule } from './races.js';

export const postRaces: Rule[] = [
  raceRule(
    'concurrency.edit-delete',
    'An edit of a post that is deleted at the same time returns 200 or 404, and the post is deleted.',
    async ({ one }) => {
      const { id } = await publish(one);
      const edit = (expected: number | number[]) =>
        one.send(expected, `PUT /posts/edit?id=${id}`, textForm({ title: 'Edited' }));
      await Promise.all([edit([200, 404]), one.send(200, `DELETE /posts/delete?id=${id}`)]);
      for (const request of [`GET /posts/${id}`, `DELETE /posts/delete?id=${id}`]) await one.send(404, request);
      await edit(404);
    },
  ),

  raceRule(
    'concurrency.edit-edit',
    'Concurrent edits of different fields of a post both take effect.',
    async ({ one }) => {
      const { id } = await publish(one);
      const fields = { title: 'Title by one', text: 'Text by another' };
      await Promise.all(
        Object.entries(fields).map(([name, value]) =>
          one.send(200, `PUT /posts/edit?id=${id}`, textForm({ [name]: value })),
        ),
      );
      const response = await one.send(200, `GET /posts/${id}`);
      const { title, text } = response.body;
      expectEqual(response, 'title and text', { title, text }, fields);
    },
  ),

  raceRule(
    'concurrency.delete-twice',
    'If a post is deleted several times at the same time, one deletion succeeds and the others return 404.',
    async ({ one }) => {
      const { id } = await publish(one);
      expectOneSuccess(await race([200, 404], ...copies(3, one, `DELETE /posts/delete?id=${id}`)));
    },
  ),
];
