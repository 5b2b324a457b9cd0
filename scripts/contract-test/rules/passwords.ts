import { expectEqual, expectProblems, expectThat } from '../expect.js';
import { byCookie } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';

/** One password that breaks one piece of the policy, and nothing else. */
const WEAK: [id: string, sentence: string, password: string][] = [
  ['passwords.policy.too-short', 'A password has at least 12 characters.', 'Teal-Lan_58'],
  ['passwords.policy.too-long', 'A password has at most 128 characters.', `Teal-Lantern_58${' ab'.repeat(38)}`],
  ['passwords.policy.lowercase', 'A password contains a lowercase letter.', 'TEAL-LANTERN_58'],
  ['passwords.policy.uppercase', 'A password contains an uppercase letter.', 'teal-lantern_58'],
  ['passwords.policy.digit', 'A password contains a digit.', 'Teal-Lantern_xy'],
  ['passwords.policy.special-character', 'A password contains a special character.', 'TealLantern58xy'],
  [
    'passwords.policy.common',
    'A password is not a common one, with or without digits and signs at its end.',
    'Password123!',
  ],
  ['passwords.policy.look-alikes', 'A common password written with look-alikes is a common password.', 'P4ssw0rd!!20!'],
  ['passwords.policy.triple-repeat', 'A password contains no character three times in a row.', 'Teal-Lannntern_58'],
  [
    'passwords.policy.letter-sequence',
    'A password contains no four letters along the alphabet.',
    'Teal-Lantern_58-wxyz',
  ],
  ['passwords.policy.digit-sequence', 'A password contains no four digits in sequence.', 'Teal-Lantern_4321'],
  [
    'passwords.policy.keyboard-row-end',
    'A password contains neither the first nor the last four keys of a keyboard row.',
    'Teal-Lantern_58-QweR',
  ],
  ['passwords.policy.keyboard-row', 'A password contains no five keys along a keyboard row.', 'Teal-Lantern_58-sdfgh'],
];

const GOOD: [id: string, sentence: string, password: string][] = [
  ['passwords.accepted.not-common', 'TestHarbour!77 is not a common password and is accepted.', 'TestHarbour!77'],
  [
    'passwords.accepted.inside-keyboard-row',
    'Four keys from inside a keyboard row (the erty of Liberty) are accepted.',
    'Liberty-Lamp_58',
  ],
  [
    'passwords.accepted.special-characters',
    'A special character is anything that is neither letter nor digit: a space, _ or an emoji.',
    'Teal Lantern 🐟 58',
  ],
  [
    'passwords.accepted.unicode-classes',
    'Lowercase, uppercase and digit are the Unicode classes Ll, Lu and Nd.',
    'ßÄÖ-quiet-٣-Ünde',
  ],
];

/** A profile update tries a password without using up the strict limit: what comes after its shape is never reached. */
export const passwords: Subject = {
  name: 'Passwords',
  rules: [
    ...WEAK.map(([id, sentence, password]) =>
      rule(id, sentence, async (cast) => {
        const { send, password: current_password } = await cast.sharedUser('ada');
        expectProblems(await send(400, 'PUT /profiles/me', { form: { password, current_password } }), 'body.password');
      }),
    ),

    ...GOOD.map(([id, sentence, password]) =>
      rule(id, sentence, async (cast) => {
        const { send } = await cast.sharedUser('ada');
        // Sound, and then refused for the wrong current password.
        await send(401, 'PUT /profiles/me', { form: { password, current_password: 'Wrong-Harbour_58' } });
      }),
    ),

    rule('passwords.policy.username', 'A password does not contain the username, ignoring case.', async (cast) => {
      const { send, username, password: current_password } = await cast.sharedUser('ada');
      const password = `Teal_58${username.toUpperCase()}`;
      expectProblems(await send(400, 'PUT /profiles/me', { form: { password, current_password } }), 'body.password');
      const json = { ...cast.newUser(), username: 'Harbour', password: 'Teal_58-hARBOUR' };
      expectProblems(await cast.anonymous.send(400, 'POST /auth/register', { json }), 'body.password');
    }),

    rule(
      'passwords.policy.email-local-part',
      'A password does not contain the local part of the email, ignoring case.',
      async (cast) => {
        const json = { ...cast.newUser(), email: 'harbour.seal@example.org', password: 'Teal_58-Harbour.Seal' };
        expectProblems(await cast.anonymous.send(400, 'POST /auth/register', { json }), 'body.password');
      },
    ),

    rule(
      'passwords.change.resulting-account',
      'A new password is checked against the username and the email that result from the update.',
      async (cast) => {
        const { send, username: former, password: current_password } = await cast.sharedUser('ada');
        const form = { current_password, password: 'Teal_58-Harbour', username: 'harbour' };
        expectProblems(await send(400, 'PUT /profiles/me', { form }), 'body.password');
        const email = 'teal_58@example.org';
        expectProblems(
          await send(400, 'PUT /profiles/me', { form: { ...form, username: 'elk', email } }),
          'body.password',
        );
        // The username is the local part of the email, too: a field that stays still counts, and one that changes does not.
        const changes = { email: 'elk@example.org', username: 'elk' };
        const password = `Teal_58${former.toUpperCase()}`;
        for (const [field, value] of Object.entries(changes)) {
          const answer = await send(400, 'PUT /profiles/me', { form: { current_password, password, [field]: value } });
          expectProblems(answer, 'body.password');
        }
        const wrong = { ...changes, password, current_password: 'Wrong-Harbour_58' };
        await send(401, 'PUT /profiles/me', { form: wrong });
      },
    ),

    rule(
      'passwords.change.later-names',
      'A later change of username or email is not checked against the password.',
      async (cast) => {
        const { send, password } = await cast.register();
        const part = password.slice('Quiet.7'.length);
        await send(200, 'PUT /profiles/me', { form: { username: part, email: `${part}@example.org` } });
      },
    ),

    rule(
      'passwords.policy.lists-every-problem',
      'A 400 lists every problem of a password, not only the first.',
      async (cast) => {
        const json = { ...cast.newUser(), password: 'aaaa' };
        const answer = expectProblems(await cast.anonymous.send(400, 'POST /auth/register', { json }), 'body.password');
        // Too short, no uppercase letter, no digit, no special character, a triple repeat.
        expectThat(answer.body.errors.length >= 5, 'each of the five things that are wrong with it', answer);
      },
    ),

    rule('passwords.change.current-password-required', 'Changing password requires current_password.', async (cast) => {
      const { send } = await cast.sharedUser('ada');
      const form = { password: cast.newUser().password };
      expectProblems(await send(400, 'PUT /profiles/me', { form }), 'body.current_password');
    }),

    rule(
      'passwords.change.wrong-current-password',
      'A wrong current_password on PUT /profiles/me returns 401 with the message “Invalid password”.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        const form = { password: cast.newUser().password, current_password: 'Wrong-Harbour_58' };
        const answer = await send(401, 'PUT /profiles/me', { form });
        expectThat(answer.body.message === 'Invalid password', 'the message Invalid password', answer);
        expectEqual(answer, 'WWW-Authenticate', answer.headers.get('www-authenticate'), 'Bearer');
      },
    ),

    rule(
      'passwords.current-password.always-checked',
      'current_password is checked whenever it is sent.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        const form = { name: 'Somebody Else', current_password: 'Wrong-Harbour_58' };
        await send(401, 'PUT /profiles/me', { form });
      },
    ),

    rule(
      'passwords.current-password.alone',
      'current_password as the only field of a profile update returns 400: nothing changes.',
      async (cast) => {
        const { send, password: current_password } = await cast.sharedUser('ada');
        expectProblems(await send(400, 'PUT /profiles/me', { form: { current_password } }), 'body.');
      },
    ),

    rule(
      'passwords.change.ends-sessions',
      'A password change ends all sessions of the account, and no other user’s: every device must log in again.',
      async (cast) => {
        const person = await cast.register();
        const stranger = await cast.sharedUser('ada');
        const other = (await cast.login(person)).body.token;
        const { password } = cast.newUser();
        const form = { password, current_password: person.password };
        const changed = await person.send(200, 'PUT /profiles/me', { form });
        for (const token of [person.token, other]) await cast.anonymous.send(401, 'GET /auth/me', { token });
        await cast.anonymous.send(401, 'GET /auth/me', byCookie(person.token));
        expectThat(/^fc_session_token=;/.test(changed.headers.get('set-cookie') ?? ''), 'a cleared cookie', changed);
        await cast.anonymous.send(401, 'POST /auth/login', {
          json: { email: person.email, password: person.password },
        });
        const { token } = (await cast.login({ ...person, password })).body;
        const answer = await cast.anonymous.send(200, 'GET /auth/sessions', { token });
        expectThat(answer.body.length === 1, 'one session, that of the login after the change', answer);
        await stranger.send(200, 'GET /auth/me');
      },
    ),

    rule(
      'passwords.change.token-version',
      'A token has the claims jti (session id) and tvr (token version); a password change raises tvr.',
      async (cast) => {
        const person = await cast.register();
        // The same password is a change, too.
        const { password } = person;
        await person.send(200, 'PUT /profiles/me', { form: { password, current_password: password } });
        await person.send(401, 'GET /auth/me');
        const answer = await cast.login(person);
        const claims = claimsOf(answer.body.token);
        expectThat(typeof claims.jti === 'string' && claims.sub === String(person.id), 'claims jti and sub', answer);
        expectThat(claims.tvr > claimsOf(person.token).tvr, 'a higher tvr after a password change', answer);
      },
    ),

    rule('auth.login.password-verbatim', 'Login does not trim or transform the password.', async (cast) => {
      const who = { ...cast.newUser(), password: `  ${cast.newUser().password}\u212b ` };
      await cast.anonymous.send(201, 'POST /auth/register', { json: who });
      await cast.login(who);
      for (const password of [who.password.trim(), who.password.normalize('NFC')]) {
        await cast.anonymous.send(401, 'POST /auth/login', { json: { email: who.email, password } });
      }
    }),
  ],
};

/** RFC 7519: the second part of a token holds its claims. */
export function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}');
}
