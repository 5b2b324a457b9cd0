import {
  expectClearedCookie,
  expectCode,
  expectEqual,
  expectProblemCodes,
  expectProblems,
  expectThat,
} from '../expect.js';
import { claimsOf, WRONG_PASSWORD, withCookie } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';

/** Passwords that each break exactly one requirement of the policy. */
const REJECTED: [id: string, sentence: string, password: string, code: string][] = [
  ['passwords.policy.too-short', 'A password must have at least 12 characters.', 'Teal-Lan_58', 'too_short'],
  [
    'passwords.policy.too-long',
    'A password must have at most 128 characters.',
    `Teal-Lantern_58${' ab'.repeat(38)}`,
    'too_long',
  ],
  ['passwords.policy.lowercase', 'A password must contain a lowercase letter.', 'TEAL-LANTERN_58', 'needs_lowercase'],
  ['passwords.policy.uppercase', 'A password must contain an uppercase letter.', 'teal-lantern_58', 'needs_uppercase'],
  ['passwords.policy.digit', 'A password must contain a digit.', 'Teal-Lantern_xy', 'needs_digit'],
  [
    'passwords.policy.special-character',
    'A password must contain a special character.',
    'TealLantern58xy',
    'needs_special_character',
  ],
  [
    'passwords.policy.common',
    'A password must not be a common password, even with digits and symbols appended.',
    'Password123!',
    'common_password',
  ],
  [
    'passwords.policy.look-alikes',
    'A password must not be a common password in which look-alike characters replace letters.',
    'P4ssw0rd!!20!',
    'common_password',
  ],
  [
    'passwords.policy.triple-repeat',
    'A password must not contain the same character three times in a row.',
    'Teal-Lannntern_58',
    'repeated_characters',
  ],
  [
    'passwords.policy.letter-sequence',
    'A password must not contain four consecutive letters of the alphabet.',
    'Teal-Lantern_58-wxyz',
    'obvious_sequence',
  ],
  [
    'passwords.policy.digit-sequence',
    'A password must not contain four consecutive digits, ascending or descending.',
    'Teal-Lantern_4321',
    'obvious_sequence',
  ],
  [
    'passwords.policy.keyboard-row-end',
    'A password must not contain the first or the last four keys of a keyboard row in sequence.',
    'Teal-Lantern_58-QweR',
    'obvious_sequence',
  ],
  [
    'passwords.policy.keyboard-row',
    'A password must not contain five adjacent keys of a keyboard row in sequence.',
    'Teal-Lantern_58-sdfgh',
    'obvious_sequence',
  ],
];

const ACCEPTED: [id: string, sentence: string, password: string][] = [
  ['passwords.accepted.not-common', 'TestHarbour!77 is not a common password and is accepted.', 'TestHarbour!77'],
  [
    'passwords.accepted.inside-keyboard-row',
    'Four adjacent keys from the middle of a keyboard row are accepted, such as erty in Liberty.',
    'Liberty-Lamp_58',
  ],
  [
    'passwords.accepted.special-characters',
    'A special character is any character other than a letter or a digit, such as a space, _ or an emoji.',
    'Teal Lantern 🐟 58',
  ],
  [
    'passwords.accepted.unicode-classes',
    'Lowercase letters, uppercase letters and digits are the Unicode categories Ll, Lu and Nd.',
    'ßÄÖ-quiet-٣-Ünde',
  ],
];

/** Most rules send profile updates that change nothing. These are not in the strict rate limit bucket. */
export const passwords: Subject = {
  name: 'Passwords',
  rules: [
    ...REJECTED.map(([id, sentence, password, code]) =>
      rule(id, `${sentence} Otherwise the request returns 400 with the code ${code}.`, async (users) => {
        const { send, password: current_password } = await users.sharedUser('ada');
        const response = await send(400, 'PUT /profiles/me', { form: { password, current_password } });
        expectProblemCodes(response, `body.password ${code}`);
      }),
    ),

    ...ACCEPTED.map(([id, sentence, password]) =>
      rule(id, sentence, async (users) => {
        const { send } = await users.sharedUser('ada');
        // A 401 for current_password shows that the password was accepted.
        await send(401, 'PUT /profiles/me', { form: { password, current_password: WRONG_PASSWORD } });
      }),
    ),

    rule('passwords.policy.username', 'A password must not contain the username, ignoring case.', async (users) => {
      const { send, username, password: current_password } = await users.sharedUser('ada');
      const password = `Teal_58${username.toUpperCase()}`;
      expectProblems(await send(400, 'PUT /profiles/me', { form: { password, current_password } }), 'body.password');
      const json = { ...users.newUser(), username: 'Harbour', password: 'Teal_58-hARBOUR' };
      const response = await users.anonymous.send(400, 'POST /auth/register', { json });
      expectProblemCodes(response, 'body.password contains_username');
    }),

    rule(
      'passwords.policy.email-local-part',
      'A password must not contain the local part of the email, ignoring case.',
      async (users) => {
        const json = { ...users.newUser(), email: 'harbour.seal@example.org', password: 'Teal_58-Harbour.Seal' };
        const response = await users.anonymous.send(400, 'POST /auth/register', { json });
        expectProblemCodes(response, 'body.password contains_email');
      },
    ),

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
        // The former username is also the local part of the former email. A password is checked against the one that stays.
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
      'passwords.policy.lists-every-problem',
      'A 400 lists every requirement that a password does not meet, not only the first.',
      async (users) => {
        const json = { ...users.newUser(), password: 'aaaa' };
        expectProblemCodes(
          await users.anonymous.send(400, 'POST /auth/register', { json }),
          ...['too_short', 'needs_uppercase', 'needs_digit', 'needs_special_character', 'repeated_characters'].map(
            (code) => `body.password ${code}`,
          ),
        );
      },
    ),

    rule(
      'passwords.change.current-password-required',
      'A password change by PUT /profiles/me requires current_password.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        const form = { password: users.newUser().password };
        expectProblems(await send(400, 'PUT /profiles/me', { form }), 'body.current_password');
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
        expectProblems(await send(400, 'PUT /profiles/me', { form: { current_password } }), 'body.');
      },
    ),

    rule(
      'passwords.change.ends-sessions',
      'A password change ends all sessions of the account, including the current one, and no session of another user.',
      async (users) => {
        const user = await users.register();
        const stranger = await users.sharedUser('ada');
        const otherToken = (await users.login(user)).body.token;
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
  ],
};
