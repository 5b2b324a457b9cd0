import {
  expectClearedCookie,
  expectCode,
  expectEqual,
  expectProblemCodes,
  expectProblems,
  expectThat,
} from '../../expect.js';
import { claimsOf, WRONG_PASSWORD, withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

export const changeRules: Rule[] = [
  rule(
    'passwords.change.resulting-account',
    'A new password is checked against the username and the email that result from the update.',
    async (users) => {
      const { send, username: former, password: current_password } = await users.sharedUser('ada');
      const form = { current_password, password: 'Teal_58-Harbour', username: 'harbour' };
      expectProblems(await send(400, 'PUT /profiles/me', { form }), 'body.password');
      const email = 'teal_58@example.org';
      expectProblems(
        await send(400, 'PUT /profiles/me', { form: { ...form, username: 'elk', email } }),
        'body.password',
      );
      // The username is also the local part of the email. If one of the two changes, the password must not contain the other.
      const changes = { email: 'elk@example.org', username: 'elk' };
      const password = `Teal_58${former.toUpperCase()}`;
      for (const [field, value] of Object.entries(changes)) {
        const response = await send(400, 'PUT /profiles/me', {
          form: { current_password, password, [field]: value },
        });
        expectProblems(response, 'body.password');
      }
      const wrong = { ...changes, password, current_password: WRONG_PASSWORD };
      await send(401, 'PUT /profiles/me', { form: wrong });
    },
  ),

  rule(
    'passwords.change.later-names',
    'A later change of username or email is not checked against the existing password.',
    async (users) => {
      const { send, password } = await users.register();
      const digits = password.slice('Quiet.7'.length);
      await send(200, 'PUT /profiles/me', { form: { username: digits, email: `${digits}@example.org` } });
    },
  ),

  rule(
    'passwords.change.current-password-required',
    'A password change by PUT /profiles/me requires current_password.',
    async (users) => {
      const { send } = await users.sharedUser('ada');
      const form = { password: users.newUser().password };
      expectProblemCodes(await send(400, 'PUT /profiles/me', { form }), 'body.current_password required');
    },
  ),

  rule(
    'passwords.change.wrong-current-password',
    'A wrong current_password on PUT /profiles/me returns 401 invalid_password with the message “Invalid password”.',
    async (users) => {
      const { send } = await users.sharedUser('ada');
      const form = { password: users.newUser().password, current_password: WRONG_PASSWORD };
      const response = await send(401, 'PUT /profiles/me', { form });
      expectCode(response, 'invalid_password');
      expectThat(response.body.message === 'Invalid password', 'the message Invalid password', response);
      expectEqual(response, 'WWW-Authenticate', response.headers.get('www-authenticate'), 'Bearer');
    },
  ),

  rule(
    'passwords.current-password.always-checked',
    'PUT /profiles/me checks current_password whenever it is sent, even without a new password.',
    async (users) => {
      const { send } = await users.sharedUser('ada');
      const form = { name: 'Another Name', current_password: WRONG_PASSWORD };
      await send(401, 'PUT /profiles/me', { form });
    },
  ),

  rule(
    'passwords.current-password.alone',
    'A profile update with current_password as its only field returns 400.',
    async (users) => {
      const { send, password: current_password } = await users.sharedUser('ada');
      expectProblemCodes(await send(400, 'PUT /profiles/me', { form: { current_password } }), 'body. no_changes');
    },
  ),

  rule(
    'passwords.change.ends-sessions',
    'A password change ends all sessions of the account, including the current one, and no session of another user.',
    async (users) => {
      const user = await users.register();
      const stranger = await users.sharedUser('ada');
      const otherToken = (await users.login(user)).body.token;
      // A service may cache sessions that were used.
      await users.anonymous.send(200, 'GET /auth/me', { token: otherToken });
      const { password } = users.newUser();
      const form = { password, current_password: user.password };
      const changed = await user.send(200, 'PUT /profiles/me', { form });
      for (const token of [user.token, otherToken]) await users.anonymous.send(401, 'GET /auth/me', { token });
      await users.anonymous.send(401, 'GET /auth/me', withCookie(user.token));
      expectClearedCookie(changed);
      await users.anonymous.send(401, 'POST /auth/login', {
        json: { email: user.email, password: user.password },
      });
      const { token } = (await users.login({ ...user, password })).body;
      const response = await users.anonymous.send(200, 'GET /auth/sessions', { token });
      expectThat(response.body.length === 1, 'one session, from the login after the change', response);
      await stranger.send(200, 'GET /auth/me');
    },
  ),

  rule(
    'passwords.change.token-version',
    'A token has the claims jti (session id) and tvr (token version); a password change increases tvr.',
    async (users) => {
      const user = await users.register();
      // Setting the same password counts as a change.
      const { password } = user;
      await user.send(200, 'PUT /profiles/me', { form: { password, current_password: password } });
      await user.send(401, 'GET /auth/me');
      const response = await users.login(user);
      const claims = claimsOf(response.body.token);
      expectThat(typeof claims.jti === 'string' && claims.sub === String(user.id), 'claims jti and sub', response);
      expectThat(claims.tvr > claimsOf(user.token).tvr, 'a higher tvr after a password change', response);
    },
  ),

  rule('auth.login.password-verbatim', 'Login does not trim or transform the password.', async (users) => {
    const user = { ...users.newUser(), password: `  ${users.newUser().password}\u212b ` };
    await users.anonymous.send(201, 'POST /auth/register', { json: user });
    await users.login(user);
    for (const password of [user.password.trim(), user.password.normalize('NFC')]) {
      await users.anonymous.send(401, 'POST /auth/login', { json: { email: user.email, password } });
    }
  }),
];
