import { expectEqual, fieldsOf } from '../../expect.js';
import { idsOf, POST_FIELDS, type Post, publish, UNUSED_ID } from '../../fixtures.js';
import type { Rule } from '../../rule.js';
import { userRules } from '../user-rule.js';

const adaRule = userRules('ada');

export const readRules: Rule[] = [
  adaRule('posts.get.fields', 'GET /posts/{id} returns 200 and the post with comments: [].', async (ada) => {
    const post = await publish(ada);
    const response = await ada.send(200, `GET /posts/${post.id}`);
    expectEqual(response, 'the post', response.body, { ...post, comments: [] });
  }),

  adaRule(
    'posts.get.missing',
    'GET /posts/{id} returns 404 for a missing post and for an id that is not well formed.',
    async ({ send }) => {
      for (const id of [UNUSED_ID, '0', '-1', 'abc', '1e3', '01', '9007199254740993', '%00', 'image'])
        await send(404, `GET /posts/${id}`);
    },
  ),

  adaRule(
    'posts.list.newest-first',
    'GET /posts returns 200 and the visible posts, newest first: by created_at, then by id.',
    async (ada) => {
      const published = [await publish(ada), await publish(ada), await publish(ada)];
      const response = await ada.send(200, 'GET /posts?limit=100');
      const keys = response.body.map(({ created_at, id }: Post) => `${created_at} ${String(id).padStart(16, '0')}`);
      expectEqual(response, 'the order, created_at and then id', keys, [...keys].sort().reverse());
      const found = idsOf(response.body).filter((id) => idsOf(published).includes(id));
      expectEqual(response, 'the three newest posts', found, idsOf(published).reverse());
      for (const post of response.body) expectEqual(response, 'the fields of an entry', fieldsOf(post), POST_FIELDS);
    },
  ),

  adaRule(
    'posts.list-own.own-posts',
    'GET /posts/me returns 200 and only posts of the authenticated user, newest first.',
    async (ada) => {
      const published = [await publish(ada), await publish(ada)];
      const response = await ada.send(200, 'GET /posts/me?limit=100');
      const others = response.body.filter(({ author_id }: Post) => author_id !== ada.id);
      expectEqual(response, 'the posts of other users', others, []);
      const found = idsOf(response.body).filter((id) => idsOf(published).includes(id));
      expectEqual(response, 'the two newest posts', found, idsOf(published).reverse());
    },
  ),
];
