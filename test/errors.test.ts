import t from 'tap';
import type { FieldProblem } from '../handlers/http/errors.js';
import { samples } from '../scripts/contract-test/images.js';
import type { RequestOptions } from './support/requests.js';
import { befriend, startTestService, type TestUser } from './support/service.js';

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
const requestFriend = (from: TestUser, to: TestUser) => () => from.send('POST', `/friends/request?to=${to.id}`);

t.test('field problems have messages that can be shown to a user', async (t) => {
  const pdf = new Blob(['%PDF-1.7']);
  const pngAsGif = new Blob([samples.png], { type: 'image/gif' });
  const mustBeEmpty = ' must be empty, because this operation takes no body';
  for (const [send, ...expected] of [
    [create({ title: '' }), 'title must not be blank'],
    [create({ text: ' \n' }), 'text must not be blank'],
    [create({ title: 'x'.repeat(201) }), 'title must have at most 200 characters'],
    [create({ title: 'a\0b' }), 'title must not contain NUL characters'],
    [create({ color: 'red' }), 'color is not a known field'],
    [create({ image: pdf }), 'image must be a JPEG, PNG, GIF, WebP or AVIF image, not PDF'],
    [create({ image: pngAsGif }), 'image is declared as image/gif, but its bytes are image/png'],
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
    [requestFriend(user, user), 'to must not be your own id'],
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

t.test('errors of different causes have different messages', async (t) => {
  const [other, friend] = [await service.createUser(), await service.createUser()];
  await requestFriend(user, other)();
  await befriend(user, friend);
  const { username, email } = other;
  const crossed = 'This user has already sent you a friend request. Accept or decline it.';
  for (const [send, status, code, message] of [
    [() => service.send('GET', '/posts'), 401, 'missing_credentials', 'Credentials are required.'],
    [request('GET', '/posts', { token: 'x' }), 401, 'invalid_token', 'The token is not valid. Log in again.'],
    [update({ name: 'Ada', current_password: 'x' }), 401, 'invalid_password', 'Invalid password'],
    [requestFriend(user, other), 409, 'request_already_sent', 'You have already sent this user a friend request.'],
    [requestFriend(other, user), 409, 'request_already_received', crossed],
    [requestFriend(user, friend), 409, 'already_friends', 'You are friends already.'],
    [update({ username }), 409, 'username_taken', 'The username is already in use.'],
    [update({ email }), 409, 'email_taken', 'The email address is already in use.'],
  ] as const) {
    const response = await send();
    t.same([response.status, response.body], [status, { code, message }]);
  }
});
