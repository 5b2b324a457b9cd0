import t from 'tap';
import type { FieldProblem } from '../handlers/errors.js';
import { samples } from '../scripts/contract-test/client/index.js';
import type { RequestOptions } from './support/requests.js';
import { startTestService } from './support/service.js';

// The contract tests check codes. These tests check the English texts, which clients can show to their users.
const service = await startTestService(t);
const user = await service.createUser();

type Form = NonNullable<RequestOptions['form']>;

/** Each of these functions returns a function that sends a request. */
const request = (method: string, path: string, options?: RequestOptions) => () => user.send(method, path, options);
const update = (form: Form) => request('PUT', '/profiles/me', { form });
const create = (form: Form) =>
  request('POST', '/posts/create', { form: { title: 'A title', text: 'A text', ...form } });
const register = (fields: object) =>
  request('POST', '/auth/register', {
    json: { name: 'Ada', username: 'ada', email: 'ada@example.org', password: 'Quiet-Harbor-27', ...fields },
  });

t.test('field problems have messages that can be shown to a user', async (t) => {
  const pdf = new Blob(['%PDF-1.7']);
  const pngAsGif = new Blob([samples.png], { type: 'image/gif' });
  // The name of the field is empty if a problem concerns the whole body or path.
  const mustBeEmpty = ' must be empty, because this operation takes no body';
  for (const [send, ...expected] of [
    [create({ title: '' }), 'title must not be blank'],
    [create({ text: ' \n' }), 'text must not be blank'],
    [create({ title: 'x'.repeat(201) }), 'title must have at most 200 characters'],
    [create({ title: 'a\0b' }), 'title must not contain NUL characters'],
    [create({ color: 'red' }), 'color is not a known field'],
    [create({ image: pdf }), 'image must be a JPEG, PNG, GIF, WebP or AVIF image, not PDF'],
    [
      create({ image: pngAsGif }),
      'image is declared as image/gif, but its bytes are image/png; the part must have the header Content-Type: image/png',
    ],
    [register({ name: undefined }), 'name is required'],
    [register({ name: 7 }), 'name must be a string'],
    [register({ username: 'a b' }), 'username must not contain whitespace'],
    [register({ username: 'a\u200bb' }), 'username must not contain invisible characters'],
    [register({ email: 'ada@localhost' }), 'email must be a valid email address'],
    [register({ email: 'ada@mailinator.com' }), 'email must not be a disposable email address'],
    [register({ name: '\ud800' }), 'name must not contain unpaired surrogates'],
    [register({ password: '' }), 'password must not be blank'],
    [register({ password: 'Quiet-Har-7' }), 'password must have at least 12 characters'],
    [
      register({ password: 'ada' }),
      'password must have at least 12 characters',
      'password must contain an uppercase letter',
      'password must contain a digit',
      'password must contain a special character (neither a letter nor a digit)',
      'password must not contain the username',
      'password must not contain the part of the email address before the @',
    ],
    [update({ private: 'maybe' }), 'private must be true or false'],
    [update({ remove_image: 'false' }), ' must change at least one field'],
    [update({ password: 'Quiet-Harbor-28' }), 'current_password is required to change the password'],
    [request('GET', '/posts?limit=five'), 'limit must be an integer between 1 and 100'],
    [request('GET', '/posts?limit=0'), 'limit must be an integer between 1 and 100'],
    [request('GET', '/posts?limit=1&limit=2&limit=3'), 'limit must not be repeated'],
    [request('POST', `/friends/request?to=${user.id}`), 'to must not be your own id'],
    [request('POST', '/friends/cancel?to=1', { json: {} }), mustBeEmpty],
    [request('GET', '/%ff'), ' must be percent-encoded UTF-8'],
  ] as const) {
    const { status, body } = await send();
    t.equal(status, 400);
    t.match(body, { code: 'invalid_request', message: 'The request is not valid.' });
    const messages = body.errors.map((problem: FieldProblem) => `${problem.field} ${problem.message}`);
    t.same(messages, expected);
  }
});
