import { expectEqual, expectProblemCodes, expectThat } from '../../expect.js';
import { idsOf, pngFile, privateProfile, publicProfile, publish, UNUSED_ID } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { userRules } from '../user-rule.js';

const adaRule = userRules('ada');

export const editAndDeleteRules: Rule[] = [
  adaRule(
    'posts.edit.changes-sent-fields',
    'PUT /posts/edit returns 200 and the updated post. It changes the fields that are sent and leaves the others unchanged.',
    async (ada) => {
      const post = await publish(ada);
      const response = await ada.send(200, `PUT /posts/edit?id=${post.id}`, { form: { title: 'Another' } });
      expectEqual(response, 'the post', response.body, { ...post, title: 'Another' });
      const read = await ada.send(200, `GET /posts/${post.id}`);
      expectEqual(read, 'the post as read', read.body, { ...post, title: 'Another', comments: [] });
    },
  ),

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
    'posts.edit.author-only',
    'PUT /posts/edit returns 404 if the authenticated user is not the author.',
    async (users) => {
      const { owner, visitor, post } = await publicProfile(users);
      await visitor.send(404, `PUT /posts/edit?id=${post.id}`, { form: { title: 'Mine now' } });
      const response = await owner.send(200, `GET /posts/${post.id}`);
      expectEqual(response, 'the title', response.body.title, post.title);
    },
  ),

  rule(
    'posts.delete.author-only',
    'DELETE /posts/delete returns 404 if the authenticated user is not the author.',
    async (users) => {
      const { owner, visitor, post } = await publicProfile(users);
      await visitor.send(404, `DELETE /posts/delete?id=${post.id}`);
      await owner.send(200, `GET /posts/${post.id}`);
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

  adaRule('posts.delete.image', 'Deleting a post removes its stored image.', async (ada) => {
    const { id, image } = await publish(ada, { image: pngFile() });
    await ada.send(200, `GET ${image}`);
    await ada.send(200, `DELETE /posts/delete?id=${id}`);
    await ada.send(404, `GET ${image}`);
  }),
];
