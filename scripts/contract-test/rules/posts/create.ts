import { expectEqual, expectProblemCodes, expectProblems, expectTimestamp, fieldsOf } from '../../expect.js';
import { POST_FIELDS } from '../../fixtures.js';
import type { Rule } from '../../rule.js';
import { userRules } from '../user-rule.js';

const adaRule = userRules('ada');

const FORM = { title: 'A title', text: 'A text' };

export const createRules: Rule[] = [
  adaRule(
    'posts.create.fields',
    'POST /posts/create returns 201 and the post with all its fields; title and text are stored verbatim.',
    async (ada) => {
      const form = { title: ' A <b>title</b> 🐟', text: 'Line\r\nline\u00a0' };
      const response = await ada.send(201, 'POST /posts/create', { form });
      expectEqual(response, 'the fields', fieldsOf(response.body), POST_FIELDS);
      const { title, text, image, author_id, author_username, like_count, liked_by_me } = response.body;
      expectEqual(response, 'title and text, stored as sent', { title, text }, form);
      expectEqual(response, 'author', [author_id, author_username], [ada.id, ada.username]);
      expectEqual(response, 'image and likes', [image, like_count, liked_by_me], [null, 0, false]);
    },
  ),

  adaRule(
    'posts.create.location',
    'POST /posts/create returns the path of the new post in the header Location.',
    async ({ send }) => {
      const response = await send(201, 'POST /posts/create', { form: FORM });
      const location = response.headers.get('location');
      expectEqual(response, 'Location', location, `/posts/${response.body.id}`);
      const post = await send(200, `GET ${location}`);
      expectEqual(post, 'the post', post.body, { ...response.body, comments: [] });
    },
  ),

  adaRule(
    'posts.create.author-id',
    'The author of a new post is the authenticated user; a request that sends author_id returns 400.',
    async ({ send, id }) => {
      const form = { ...FORM, author_id: String(id) };
      expectProblemCodes(await send(400, 'POST /posts/create', { form }), 'body.author_id unknown_field');
    },
  ),

  adaRule(
    'posts.create.created-at',
    'created_at of a post is in RFC 3339 format, in UTC with milliseconds.',
    async ({ send }) => {
      const response = await send(201, 'POST /posts/create', { form: FORM });
      expectTimestamp(response, 'created_at', response.body.created_at);
    },
  ),

  adaRule('posts.create.blank', 'A post with a blank title or a blank text returns 400.', async ({ send }) => {
    const form = { title: ' \u3000', text: '\n\t' };
    expectProblems(await send(400, 'POST /posts/create', { form }), 'body.text', 'body.title');
  }),

  adaRule('posts.create.required-fields', 'Title and text are required to create a post.', async ({ send }) => {
    expectProblemCodes(await send(400, 'POST /posts/create'), 'body.text required', 'body.title required');
    expectProblemCodes(await send(400, 'POST /posts/create', { form: { title: 'A title' } }), 'body.text required');
  }),
];
