import { claimsOf } from '../../client/index.js';
import { expectClearedCookie, expectCode, expectEqual, expectProblemCodes, expectThat } from '../../expect.js';
import { WRONG_PASSWORD, withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { startSession } from '../session.js';
import { expectPasswordProblems, passwordRule } from './user.js';

export const changeRules: Rule[] = [
  passwordRule(
    'passwords.change.resulting-account',
    'A new password is checked against the username and the email that result from the update.',
    async (user) => {
      const changes = { username: 'elk', email: 'elk@example.org' };
      const password = `Teal_58${user.username.toUpperCase()}`;
      for (const [form, code] of [
        [{ password: 'Teal_58-Harbour', username: 'harbour' }, 'contains_username'],
        [{ password: 'Teal_58-Harbour', username: 'elk', email: 'teal_58@example.org' }, 'contains_email'],
        // The former username is also the local part of the email. If only one of them changes, the other still applies.
        [{ password, username: changes.username }, 'contains_email'],
        [{ password, email: changes.email }, 'contains_username'],
      ] as [Record<string, string>, string][])
        await expectPasswordProblems(user, form, code);
      await expectPasswordProblems(user, { ...changes, password });
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

  passwordRule(
    'passwords.change.current-password-required',
    'A password change by PUT /profiles/me requires current_password.',
    async ({ send }, users) => {
      const form = { password: users.newUser().password, name: ' ' };
      const response = await send(400, 'PUT /profiles/me', { form });
      expectProblemCodes(response, 'body.current_password required', 'body.name blank');
    },
  ),

  rule(
    'passwords.change.ends-sessions',
    'A password change ends all sessions of the account, including the current one, and no session of another user.',
    async (users) => {
      const user = await users.register();
      const stranger = await users.sharedUser('ada');
      const other = await startSession(users, user);
      // A service may cache sessions that were used.
      await other.send(200, 'GET /auth/me');
      const { email, password: formerPassword } = user;
      const { password } = users.newUser();
      const form = { password, current_password: formerPassword };
      expectClearedCookie(await user.send(200, 'PUT /profiles/me', { form }));
      for (const { send } of [user, other]) await send(401, 'GET /auth/me');
      await users.anonymous.send(401, 'GET /auth/me', withCookie(user.token));
      await users.anonymous.send(401, 'POST /auth/login', { json: { email, password: formerPassword } });
      const { send } = await startSession(users, { email, password });
      const response = await send(200, 'GET /auth/sessions');
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

  // Must be last: if the service accepts the password, the session of the user ends.
  passwordRule(
    'passwords.change.wrong-current-password',
    'A wrong current_password on PUT /profiles/me returns 401 invalid_password with the message “Invalid password”.',
    async ({ send }, users) => {
      const form = { password: users.newUser().password, current_password: WRONG_PASSWORD };
      const response = expectCode(await send(401, 'PUT /profiles/me', { form }), 'invalid_password');
      expectEqual(response, 'the message', response.body.message, 'Invalid password');
      expectEqual(response, 'WWW-Authenticate', response.headers.get('www-authenticate'), 'Bearer');
    },
  ),
];
