import { randomUUID } from 'node:crypto';
import { blackPng, type CheckedResponse } from '../../client/index.js';
import { expectCode, expectEqual, expectProblems, expectThat } from '../../expect.js';
import { idsOf, type Post, pngFile, textForm } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { startSession } from '../session.js';
import { userRules } from '../user-rule.js';

const adaRule = userRules('ada');

/** Returns the options of a request to create a post with an Idempotency-Key. */
const withKey = (key: string, form: Record<string, string | File> = { title: 'A title', text: 'A text' }) => ({
  form,
  headers: { 'Idempotency-Key': key },
});

export const idempotencyKeyRules: Rule[] = [
  rule(
    'posts.idempotency-key.same-form',
    'The same Idempotency-Key with the same form, in any order of its fields, returns the first response again, with its Location, even in another session, and after the post has been liked, edited or deleted, or its author has been renamed.',
    async (users) => {
      const ada = await users.register();
      const content = withKey(randomUUID(), { title: 'A title', text: 'A text', image: pngFile() });
      const first = await ada.send(201, 'POST /posts/create', content);
      const expectFirst = (response: CheckedResponse) => {
        expectEqual(response, 'the response', response.body, first.body);
        expectEqual(response, 'Location', response.headers.get('location'), first.headers.get('location'));
      };
      const reordered = Object.fromEntries(Object.entries(content.form).reverse());
      expectFirst(await ada.send(201, 'POST /posts/create', { ...content, form: reordered }));
      await ada.send(200, 'PUT /profiles/me', { form: { username: users.newUser().username } });
      await ada.send(200, `POST /posts/like?id=${first.body.id}`);
      const edit = { form: { title: 'Edited', remove_image: 'true' } };
      await ada.send(200, `PUT /posts/edit?id=${first.body.id}`, edit);
      expectFirst(await ada.send(201, 'POST /posts/create', content));
      await ada.send(200, `DELETE /posts/delete?id=${first.body.id}`);
      const { send } = await startSession(users, ada);
      expectFirst(await send(201, 'POST /posts/create', content));
      await ada.send(404, `GET /posts/${first.body.id}`);
    },
  ),

  adaRule(
    'posts.idempotency-key.other-form',
    'The same Idempotency-Key with a different form returns 422 idempotency_key_reused. Neither this request nor a retry of the first one creates another post.',
    async (ada) => {
      const key = randomUUID();
      // Unique, because other rules create posts of the same user.
      const title = `A title ${key}`;
      const picture = blackPng(200, 200, { level: 0 });
      const toFile = (bytes: Buffer) => new File([bytes], 'a picture.png', { type: 'image/png' });
      const form = { title, text: 'A text', image: toFile(picture) };
      const { body } = await ada.send(201, 'POST /posts/create', withKey(key, form));
      await ada.send(201, 'POST /posts/create', withKey(key, form));
      for (const other of [
        { ...form, title: `${title}, another` },
        { ...form, text: 'Another text' },
        { ...form, title: `${title}A`, text: ' text' },
        { ...form, title: `${title} ` },
        { ...form, text: '\nA text' },
        { title, text: 'A text' },
        { ...form, image: toFile(picture.subarray(0, -1)) },
        { ...form, image: toFile(Buffer.concat([picture.subarray(0, -13), Buffer.from([0]), picture.subarray(-12)])) },
      ]) {
        expectCode(await ada.send(422, 'POST /posts/create', withKey(key, other)), 'idempotency_key_reused');
      }
      const response = await ada.send(200, 'GET /posts/me?limit=100');
      const posts: Post[] = response.body.filter((post: Post) => post.title.startsWith(title));
      expectEqual(response, 'the posts with this title', idsOf(posts), [body.id]);
    },
  ),

  adaRule(
    'posts.idempotency-key.line-breaks',
    'The same Idempotency-Key with a text that differs only in its line breaks returns 422, because the form is different.',
    async ({ send }) => {
      const key = randomUUID();
      const create = (status: number, text: string) => {
        const { body, headers } = textForm({ title: 'A title', text });
        return send(status, 'POST /posts/create', { body, headers: { ...headers, 'Idempotency-Key': key } });
      };
      await create(201, 'One\ntwo');
      expectCode(await create(422, 'One\r\ntwo'), 'idempotency_key_reused');
    },
  ),

  adaRule(
    'posts.idempotency-key.concurrent',
    'Concurrent requests with the same Idempotency-Key create one post: each returns the first response, or 409 idempotency_key_in_progress.',
    async (ada) => {
      const title = `A title ${randomUUID()}`;
      const content = withKey(randomUUID(), { title, text: 'A text', image: pngFile() });
      const responses = await Promise.all(
        Array.from({ length: 4 }, () => ada.send([201, 409], 'POST /posts/create', content)),
      );
      const { body } = await ada.send(201, 'POST /posts/create', content);
      for (const response of responses) {
        if (response.status === 201) expectEqual(response, 'id', response.body.id, body.id);
        else expectCode(response, 'idempotency_key_in_progress');
      }
      const list = await ada.send(200, 'GET /posts/me?limit=100');
      const posts: Post[] = list.body.filter((post: Post) => post.title === title);
      expectEqual(list, 'the posts with this title', idsOf(posts), [body.id]);
    },
  ),

  adaRule(
    'posts.idempotency-key.per-account',
    'An Idempotency-Key belongs to the account that sent it, and is compared exactly: the same key of another account, in other letter case or in quotation marks creates another post.',
    async (ada, users) => {
      const ben = await users.sharedUser('ben');
      const key = `a${randomUUID()}`;
      const first = await ada.send(201, 'POST /posts/create', withKey(key));
      for (const [{ send }, otherKey] of [
        [ben, key],
        [ada, key.toUpperCase()],
        [ada, `"${key}"`],
      ] as const) {
        const other = await send(201, 'POST /posts/create', withKey(otherKey));
        expectThat(other.body.id !== first.body.id, 'another post', other);
      }
    },
  ),

  adaRule(
    'posts.idempotency-key.syntax',
    'An Idempotency-Key has 1 to 255 visible ASCII characters and is sent at most once; otherwise the request returns 400.',
    async ({ send }) => {
      for (const key of ['', 'k'.repeat(256), 'a b', 'a\tb', '\u00e4', 'k, k']) {
        expectProblems(await send(400, 'POST /posts/create', withKey(key)), 'header.Idempotency-Key');
      }
      const repeated: [string, ...string[]] = ['Idempotency-Key', 'k', 'k'];
      const { form } = withKey('k');
      expectProblems(await send(400, 'POST /posts/create', { form, repeated }), 'header.Idempotency-Key');
      const content = withKey('a b', { title: ' ', text: 'A text' });
      const wanted = ['body.title', 'header.Idempotency-Key', 'query.page'];
      expectProblems(await send(400, 'POST /posts/create?page=1', content), ...wanted);
      await send(201, 'POST /posts/create', withKey(randomUUID().padEnd(255, '!"~')));
    },
  ),

  adaRule(
    'posts.idempotency-key.refused-form',
    'A request that returned 400 does not use up its Idempotency-Key.',
    async ({ send }) => {
      const key = randomUUID();
      await send(400, 'POST /posts/create', withKey(key, { title: ' ', text: 'A text' }));
      await send(201, 'POST /posts/create', withKey(key));
    },
  ),
];
