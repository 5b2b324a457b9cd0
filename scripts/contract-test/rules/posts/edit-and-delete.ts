import { expectEqual, expectProblemCodes, expectThat } from '../../expect.js';
import { idsOf, privateProfile, publicProfile, publish, UNUSED_ID } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { userRules } from '../user-rule.js';

const adaRule = userRules('ada');

export const editAndDeleteRules: Rule[] = [
  adaRule(
    'posts.edit.nothing-to-change',
    'PUT /posts/edit returns 400 if no field is sent, or only remove_image=false. The current value of a field counts as a change.',
    async (ada) => {
      const request = `PUT /posts/edit?id=${(await publish(ada)).id}`;
      expectProblemCodes(await ada.send(400, request, { form: { remove_image: 'false' } }), 'body. no_changes');
      await ada.send(400, request);
      for (const form of [{ title: 'A title' }, { text: 'A text' }] as Record<string, string>[])
        await ada.send(200, request, { form });
    },
  ),

  rule(
    'posts.edit.refusals-are-alike',
    'Editing or deleting a post that is missing, hidden or another user’s returns 404, always with the same body.',
    async (users) => {
      const { visitor, post } = await publicProfile(users);
      const hidden = (await privateProfile(users)).post;
      const responses = [];
      for (const id of [UNUSED_ID, hidden.id, post.id]) {
        responses.push(await visitor.send(404, `PUT /posts/edit?id=${id}`, { form: { title: 'Mine now' } }));
        responses.push(await visitor.send(404, `DELETE /posts/delete?id=${id}`));
      }
      for (const response of responses) expectEqual(response, 'the body', response.body, responses[0]?.body);
    },
  ),

  adaRule(
    'posts.delete.success',
    'DELETE /posts/delete returns 200 and removes the post for all users.',
    async (ada, users) => {
      const ben = await users.sharedUser('ben');
      const { id } = await publish(ada);
      await ada.send(200, `DELETE /posts/delete?id=${id}`);
      for (const { send } of [ada, ben]) await send(404, `GET /posts/${id}`);
      const feed = await ben.send(200, 'GET /posts?limit=100');
      expectThat(!idsOf(feed.body).includes(id), 'a feed without the deleted post', feed);
      await ada.send(404, `DELETE /posts/delete?id=${id}`);
      for (const method of ['POST', 'DELETE']) await ben.send(404, `${method} /posts/like?id=${id}`);
    },
  ),
];
