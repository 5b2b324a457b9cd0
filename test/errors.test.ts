import t from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { befriend, startTestService } from './support/service.js';

// The contract tests check codes. These tests check the English texts, which clients can show to their users.
const service = await startTestService(t);
const user = await service.createUser();

const file = (bytes: string | Uint8Array<ArrayBuffer>, type = '') => new Blob([bytes], { type });

t.test('field problems have messages that can be shown to a user', async (t) => {
  const register = (fields: object) =>
    service.send('POST', '/auth/register', {
      json: { name: 'Ada', username: 'ada', email: 'ada@example.org', password: 'Quiet-Harbor-27', ...fields },
    });
  const create = (form: Record<string, string | Blob>) =>
    user.send('POST', '/posts/create', { form: { title: 'A title', text: 'A text', ...form } });
  const update = (form: Record<string, string | Blob>) => user.send('PUT', '/profiles/me', { form });
  for (const [send, ...expected] of [
    [() => create({ title: '' }), 'title must not be blank'],
    [() => create({ text: ' \n' }), 'text must not be blank'],
    [() => create({ title: 'x'.repeat(201) }), 'title must have at most 200 characters'],
    [() => create({ title: 'a\0b' }), 'title must not contain NUL characters'],
    [() => create({ color: 'red' }), 'color is not a known field'],
    [() => create({ image: file('%PDF-1.7') }), 'image must be a JPEG, PNG, GIF, WebP or AVIF image, not PDF'],
    [
      () => create({ image: file(samples.png, 'image/gif') }),
      'image is declared as image/gif, but its bytes are image/png',
    ],
    [() => register({ name: undefined }), 'name is required'],
    [() => register({ name: 7 }), 'name must be a string'],
    [() => register({ username: 'a b' }), 'username must not contain whitespace'],
    [() => register({ username: 'a\u200bb' }), 'username must not contain invisible characters'],
    [() => register({ email: 'ada@localhost' }), 'email must be a valid email address'],
    [() => register({ email: 'ada@mailinator.com' }), 'email must not be a disposable email address'],
    [() => register({ name: '\ud800' }), 'name must not contain unpaired surrogates'],
    [() => register({ password: '' }), 'password must not be blank'],
    [() => register({ password: 'Quiet-Har-7' }), 'password must have at least 12 characters'],
    [
      () => register({ password: 'ada' }),
      'password must have at least 12 characters',
      'password must contain an uppercase letter',
      'password must contain a digit',
      'password must contain a special character (neither a letter nor a digit)',
      'password must not contain the username',
      'password must not contain the part of the email address before the @',
    ],
    [() => update({ private: 'maybe' }), 'private must be true or false'],
    [() => update({ remove_image: 'false' }), ' must change at least one field'],
    [() => update({ password: 'Quiet-Harbor-28' }), 'current_password is required to change the password'],
    [() => user.send('GET', '/posts?limit=five'), 'limit must be an integer between 1 and 100'],
    [() => user.send('GET', '/posts?limit=0'), 'limit must be an integer between 1 and 100'],
    [() => user.send('GET', '/posts?limit=1&limit=2&limit=3'), 'limit must not be repeated'],
    [() => user.send('POST', `/friends/request?to=${user.id}`), 'to must not be your own id'],
    [
      () => user.send('POST', '/friends/cancel?to=1', { json: {} }),
      ' must be empty, because this operation takes no body',
    ],
    [() => service.send('GET', '/%ff'), ' must be percent-encoded UTF-8'],
  ] as const) {
    const { status, body } = await send();
    t.equal(status, 400);
    t.match(body, { code: 'invalid_request', message: 'The request is not valid.' });
    t.same(
      body.errors.map(({ field, message }: { field: string; message: string }) => `${field} ${message}`),
      expected,
    );
  }
});

t.test('errors of different causes have different messages', async (t) => {
  const [other, friend] = [await service.createUser(), await service.createUser()];
  await user.send('POST', `/friends/request?to=${other.id}`);
  await befriend(user, friend);
  const { username, email } = other;
  for (const [send, status, code, message] of [
    [() => service.send('GET', '/posts'), 401, 'missing_credentials', 'Credentials are required.'],
    [
      () => service.send('GET', '/posts', { token: 'x' }),
      401,
      'invalid_token',
      'The token is not valid. Log in again.',
    ],
    [
      () => user.send('PUT', '/profiles/me', { form: { name: 'Ada', current_password: 'x' } }),
      401,
      'invalid_password',
      'Invalid password',
    ],
    [
      () => user.send('POST', `/friends/request?to=${other.id}`),
      409,
      'request_already_sent',
      'You have already sent this user a friend request.',
    ],
    [
      () => other.send('POST', `/friends/request?to=${user.id}`),
      409,
      'request_already_received',
      'This user has already sent you a friend request. Accept or decline it.',
    ],
    [() => user.send('POST', `/friends/request?to=${friend.id}`), 409, 'already_friends', 'You are friends already.'],
    [
      () => user.send('PUT', '/profiles/me', { form: { username } }),
      409,
      'username_taken',
      'The username is already in use.',
    ],
    [
      () => user.send('PUT', '/profiles/me', { form: { email } }),
      409,
      'email_taken',
      'The email address is already in use.',
    ],
  ] as const) {
    const response = await send();
    t.same([response.status, response.body], [status, { code, message }]);
  }
});
