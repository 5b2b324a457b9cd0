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

/** Another problem in a form with a password: a service that accepts a wrong password still changes nothing. */
const BLANK_NAME = { name: ' ' };

/** Passwords that each break exactly one requirement of the policy. */
const REJECTED: [id: string, sentence: string, code: string, passwords: string[]][] = [
  [
    'passwords.policy.too-short',
    'A password must have at least 12 characters (code points).',
    'too_short',
    ['Teal-Lan_58', 'Teal-Lan_5🐟'],
  ],
  [
    'passwords.policy.too-long',
    'A password must have at most 128 characters (code points).',
    'too_long',
    [`Teal-Lantern_58${' ab'.repeat(38)}`],
  ],
  [
    'passwords.policy.lowercase',
    'A password must contain a lowercase letter (Unicode category Ll).',
    'needs_lowercase',
    ['TEAL-LANTERN_58', 'TEAL-LANTERNʰ_58'],
  ],
  [
    'passwords.policy.uppercase',
    'A password must contain an uppercase letter (Unicode category Lu).',
    'needs_uppercase',
    ['teal-lantern_58', 'teal-lanternⅧ_58'],
  ],
  [
    'passwords.policy.digit',
    'A password must contain a digit (Unicode category Nd).',
    'needs_digit',
    ['Teal-Lantern_xy', 'Teal-Lantern_²½'],
  ],
  [
    'passwords.policy.special-character',
    'A password must contain a special character, which is neither a letter nor a digit.',
    'needs_special_character',
    ['TealLantern58xy', 'TealLanternéß58', 'TealLantern58水'],
  ],
  [
    'passwords.policy.common',
    'A password must not be a common password, ignoring case, even with digits and symbols appended.',
    'common_password',
    ['Password123!', 'paSSword!2026', 'Sunshine#2026', 'Football_2026!'],
  ],
  [
    'passwords.policy.look-alikes',
    'A password must not be a common password in which look-alike characters replace letters, such as @ for a and 0 for o.',
    'common_password',
    ['P4ssw0rd!!20!', 'P@ssword!2026', 'Passw0rd!2026', 'B@seb@ll#2026', 'F00tball#2026'],
  ],
  [
    'passwords.policy.triple-repeat',
    'A password must not contain the same character three times in a row.',
    'repeated_characters',
    ['Teal-Lannntern_58', 'Teal---Lantern_58', 'Teal-Lantern_5888', 'Teal-Lantern_58🐟🐟🐟', 'Teal   Lantern_58'],
  ],
  [
    'passwords.policy.letter-sequence',
    'A password must not contain four consecutive letters of the alphabet, ascending or descending, ignoring case.',
    'obvious_sequence',
    ['wxyz', 'zyxw', 'aBcD', 'mnop', 'ONML'].map((sequence) => `Teal-Lantern_58-${sequence}`),
  ],
  [
    'passwords.policy.digit-sequence',
    'A password must not contain four consecutive digits, ascending or descending.',
    'obvious_sequence',
    ['4321', '1234', '0123', '6789', '9876'].map((sequence) => `Teal-Lantern_${sequence}`),
  ],
  [
    'passwords.policy.keyboard-row-end',
    'A password must not contain the first or the last four keys of a keyboard row in sequence, in either direction, ignoring case.',
    'obvious_sequence',
    ['QweR', 'rewq', 'uiop', 'poiu', 'asdf', 'fdsa', 'hjkl', 'lkjh', 'zxcv', 'vcxz', 'vbnm', 'mnbv'].map(
      (sequence) => `Teal-Lantern_58-${sequence}`,
    ),
  ],
  [
    'passwords.policy.keyboard-row',
    'A password must not contain five adjacent keys of a keyboard row in sequence, in either direction, ignoring case.',
    'obvious_sequence',
    ['sdfgh', 'hgfds', 'wERTY', 'ytrew', 'xcvbn', 'nbvcx'].map((sequence) => `Teal-Lantern_58-${sequence}`),
  ],
];

const ACCEPTED: [id: string, sentence: string, passwords: string[]][] = [
  ['passwords.accepted.not-common', 'TestHarbour!77 is not a common password and is accepted.', ['TestHarbour!77']],
  [
    'passwords.accepted.length',
    'A password of 12 and one of 128 characters (code points) are accepted.',
    ['Teal-Lan_587', `Teal-Lantern_58${'🐟a'.repeat(56)}b`],
  ],
  [
    'passwords.accepted.inside-keyboard-row',
    'Four adjacent keys from the middle of a keyboard row are accepted, such as erty in Liberty.',
    ['Liberty-Lamp_58', 'Teal-Lantern_58-fghj', 'Teal-Lantern_58-bvcx'],
  ],
  [
    'passwords.accepted.short-sequence',
    'Two equal characters in a row, three in different cases, and three keys, letters or digits in sequence are accepted.',
    [
      'Teal-Lantern_588',
      'Teal-LantnNn_58',
      'Teal-Lantern_58🐟🐟',
      'Teal-Lantern_58-qwe',
      'Teal-Lantern_58-xyz',
      'Teal-Lantern_789',
    ],
  ],
  [
    'passwords.accepted.special-characters',
    'A special character is any character other than a letter or a digit, such as a space, _ or an emoji.',
    ['Teal Lantern 58', 'Teal_Lantern_58', 'TealLantern58🐟', 'TealLantern58½'],
  ],
  [
    'passwords.accepted.unicode-classes',
    'Lowercase letters, uppercase letters and digits are the Unicode categories Ll, Lu and Nd.',
    ['ßÄÖ-quiet-٣-Ünde', 'ß-ÄÖÜ-ÄÖÜ-ÄÖ٣'],
  ],
];

/** Passwords that contain a name of the account that results from the update. */
const CONTAINED_NAMES: [
  id: string,
  sentence: string,
  code: string,
  [changes: Record<string, string>, password: string][],
][] = [
  [
    'passwords.policy.username',
    'A password must not contain the username, however short, ignoring case and Unicode form.',
    'contains_username',
    [
      [{ username: 'Harbour' }, 'Teal_58-hARBOUR'],
      [{ username: 'qz' }, 'Teal-Lantern_58QZ'],
      [{ username: 'é' }, 'Teal-Lantern_58e\u0301'],
    ],
  ],
  [
    'passwords.policy.email-local-part',
    'A password must not contain the local part of the email, however short, ignoring case.',
    'contains_email',
    [
      [{ email: 'harbour.seal@example.org' }, 'Teal_58-Harbour.Seal'],
      [{ email: 'qz@example.org' }, 'Teal-Lantern_58QZ'],
    ],
  ],
];

/** Most rules send profile updates that change nothing. The strict rate limit does not count these. */
export const passwords: Subject = {
  name: 'Passwords',
  rules: [
    ...REJECTED.map(([id, sentence, code, passwords]) =>
      rule(id, `${sentence} Otherwise the request returns 400 with the code ${code}.`, async (users) => {
        const { send, password: current_password } = await users.sharedUser('ada');
        for (const password of passwords) {
          const response = await send(400, 'PUT /profiles/me', { form: { password, current_password, ...BLANK_NAME } });
          expectProblemCodes(response, `body.password ${code}`, 'body.name blank');
        }
      }),
    ),

    ...ACCEPTED.map(([id, sentence, passwords]) =>
      rule(id, sentence, async (users) => {
        const { send, password: current_password } = await users.sharedUser('ada');
        for (const password of passwords) {
          const form = { password, current_password, ...BLANK_NAME };
          expectProblemCodes(await send(400, 'PUT /profiles/me', { form }), 'body.name blank');
        }
      }),
    ),

    ...CONTAINED_NAMES.map(([id, sentence, code, cases]) =>
      rule(id, `${sentence} Otherwise the request returns 400 with the code ${code}.`, async (users) => {
        const { send, password: current_password } = await users.sharedUser('ada');
        for (const [changes, password] of cases) {
          const form = { ...changes, password, current_password, ...BLANK_NAME };
          const update = await send(400, 'PUT /profiles/me', { form });
          expectProblemCodes(update, `body.password ${code}`, 'body.name blank');
          const json = { ...users.newUser(), ...changes, password };
          expectProblemCodes(await users.anonymous.send(400, 'POST /auth/register', { json }), `body.password ${code}`);
        }
      }),
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
