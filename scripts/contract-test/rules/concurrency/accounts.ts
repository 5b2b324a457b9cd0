import { claimsOf } from '../../client/index.js';
import { expectEqual, expectThat } from '../../expect.js';
import { textForm } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { User } from '../../users.js';
import { copies, expectOneSuccess, getPair, race } from './races.js';

export const accountRaces: Rule[] = [
  rule('concurrency.profile', 'Concurrent updates of different fields of a profile all take effect.', async (users) => {
    const { send } = await users.register();
    const changes = { name: 'Name by one', username: users.newUser().username, private: true };
    await Promise.all(
      Object.entries(changes).map(([field, value]) =>
        send(200, 'PUT /profiles/me', textForm({ [field]: String(value) })),
      ),
    );
    const response = await send(200, 'GET /profiles/me');
    expectEqual(response, 'the profile', response.body, { ...response.body, ...changes });
  }),

  ...(['username', 'email'] as const).flatMap((field) => [
    rule(
      `concurrency.register.${field}`,
      `If registrations with the same ${field} are sent at the same time, one succeeds and the others return 409.`,
      async (users) => {
        const value = users.newUser()[field];
        const registrations = Array.from({ length: 3 }, () => ({ ...users.newUser(), [field]: value }));
        const responses = await Promise.all(
          registrations.map((json) => users.anonymous.send([201, 409], 'POST /auth/register', { json })),
        );
        expectOneSuccess(responses);
      },
    ),

    rule(
      `concurrency.update.${field}`,
      `If two users change to the same ${field} at the same time, one succeeds and the other returns 409.`,
      async (users) => {
        const { one, other } = await getPair(users);
        const form = { [field]: users.newUser()[field] };
        const change = ({ send }: User) => send([200, 409], 'PUT /profiles/me', { form });
        const successful = expectOneSuccess(await Promise.all([change(one), change(other)]));
        const accounts = await Promise.all([one, other].map(({ send }) => send(200, 'GET /auth/me')));
        const count = accounts.filter(({ body }) => body[field] === form[field]).length;
        expectEqual(successful, `the number of accounts with the ${field}`, count, 1);
      },
    ),
  ]),

  rule(
    'concurrency.password-twice',
    'If two password changes with the same current password are sent at the same time, one succeeds and the other returns 401. Only the password of the successful change is valid.',
    async (users) => {
      const user = await users.register();
      const passwords = [users.newUser().password, users.newUser().password];
      const responses = await Promise.all(
        passwords.map((password) =>
          user.send([200, 401], 'PUT /profiles/me', { form: { password, current_password: user.password } }),
        ),
      );
      expectOneSuccess(responses);
      for (const [index, password] of [...passwords, user.password].entries()) {
        const expected = responses[index]?.status ?? 401;
        await users.anonymous.send(expected, 'POST /auth/login', { json: { email: user.email, password } });
      }
    },
  ),

  rule(
    'concurrency.password-login',
    'A login with the old password during a password change leaves no valid session after the change.',
    async (users) => {
      const user = await users.register();
      const { email, password: current_password } = user;
      const json = { email, password: current_password };
      const { password } = users.newUser();
      const [, ...logins] = await Promise.all([
        user.send(200, 'PUT /profiles/me', { form: { password, current_password } }),
        ...Array.from({ length: 4 }, () => users.anonymous.send([200, 401], 'POST /auth/login', { json })),
      ]);
      for (const { body } of logins) await users.anonymous.send(401, 'GET /auth/me', { token: body.token });
      const { token } = (await users.login({ email, password })).body;
      const response = await users.anonymous.send(200, 'GET /auth/sessions', { token });
      expectEqual(response, 'the number of sessions', response.body.length, 1);
    },
  ),

  rule(
    'concurrency.sessions',
    'If a session is deleted several times at the same time, one deletion succeeds and the others return 404. Concurrent logouts of a session each return 200 or 401, and at least one returns 200.',
    async (users) => {
      const user = await users.register();
      const token: string = (await users.login(user)).body.token;
      expectOneSuccess(await race([200, 404], ...copies(3, user, `DELETE /auth/sessions/${claimsOf(token).jti}`)));
      await users.anonymous.send(401, 'GET /auth/me', { token });
      const [first, second] = await race([200, 401], ...copies(2, user, 'POST /auth/logout'));
      expectThat(first.status === 200 || second?.status === 200, 'a logout that succeeds', first);
      await user.send(401, 'GET /auth/me');
    },
  ),

  rule(
    'concurrency.account',
    'If an account is deleted several times at the same time, one deletion succeeds and the others return 401. Posts and sessions created meanwhile are deleted with the account.',
    async (users) => {
      const user = await users.register();
      const reader = await users.sharedUser('ada');
      const { email, password } = user;
      const remove = () => user.send([200, 401], 'DELETE /profiles/me', { json: { password } });
      const create = () => user.send([201, 401], 'POST /posts/create', textForm({ title: 'A title', text: 'A text' }));
      const login = () => users.anonymous.send([200, 401], 'POST /auth/login', { json: { email, password } });
      const [first, second, post, session] = await Promise.all([remove(), remove(), create(), login()]);
      expectOneSuccess([first, second]);
      if (post.status === 201) await reader.send(404, `GET /posts/${post.body.id}`);
      await users.anonymous.send(401, 'GET /auth/me', { token: session.body.token });
      await reader.send(404, `GET /profiles/${user.id}`);
    },
  ),
];
