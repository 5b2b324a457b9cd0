import { problems, rule, type Subject, status, want } from '../rule.js';
import { byCookie } from '../scenes.js';

const POLICY = 'Input rules, password policy';

/** One password that breaks one piece of the policy, and nothing else. */
const WEAK: [where: string, says: string, password: string][] = [
  [POLICY, 'at least 12', 'Teal-Lan_58'],
  [POLICY, '1-128 chars', `Teal-Lantern_58${' ab'.repeat(38)}`],
  [POLICY, 'must contain lowercase', 'TEAL-LANTERN_58'],
  [POLICY, 'must contain uppercase', 'teal-lantern_58'],
  [POLICY, 'must contain a digit', 'Teal-Lantern_xy'],
  [POLICY, 'must contain a special character', 'TealLantern58xy'],
  [POLICY, 'must not be a common password', 'Password123!'],
  ['Rules', 'undoing look-alikes: a common password by other signs is one', 'P4ssw0rd!!20!'],
  [POLICY, 'must not contain a triple repeat', 'Teal-Lannntern_58'],
  [POLICY, 'must not contain an obvious sequence of letters', 'Teal-Lantern_58-wxyz'],
  [POLICY, 'must not contain an obvious sequence of digits', 'Teal-Lantern_4321'],
  ['Rules', 'a sequence along a keyboard row: its first or last four', 'Teal-Lantern_58-QweR'],
  ['Rules', 'a sequence along a keyboard row: five or more', 'Teal-Lantern_58-sdfgh'],
];

const GOOD: [says: string, password: string][] = [
  ['TestHarbour!77 is no common password', 'TestHarbour!77'],
  ['a row’s first or last four, not the erty of Liberty', 'Liberty-Lamp_58'],
  ['a special character is anything that is no letter and no digit: a space, _, an emoji', 'Teal Lantern 🐟 58'],
  ['Lowercase, uppercase and digit mean the Unicode classes', 'ßÄÖ-quiet-٣-Ünde'],
];

/** A profile update tries a password without using up the strict limit: what comes after its shape is never reached. */
export const passwords: Subject = {
  name: 'Passwords',
  rules: [
    ...WEAK.map(([where, says, password]) =>
      rule(where, says, async (cast) => {
        const { ask, password: current_password } = await cast.person('ada');
        problems(await ask(400, 'PUT /profiles/me', { form: { password, current_password } }), 'body.password');
      }),
    ),

    ...GOOD.map(([says, password]) =>
      rule('Rules', says, async (cast) => {
        const { ask } = await cast.person('ada');
        // Sound, and then refused for the wrong current password.
        await ask(401, 'PUT /profiles/me', { form: { password, current_password: 'Wrong-Harbour_58' } });
      }),
    ),

    rule(POLICY, 'must not contain the username', async (cast) => {
      const { ask, username, password: current_password } = await cast.person('ada');
      const password = `Teal_58${username.toUpperCase()}`;
      problems(await ask(400, 'PUT /profiles/me', { form: { password, current_password } }), 'body.password');
    }),

    rule(POLICY, 'must not contain the email local part', async (cast) => {
      const json = { ...cast.identity(), email: 'harbour.seal@example.org', password: 'Teal_58-Harbour.Seal' };
      problems(await cast.nobody.ask(400, 'POST /auth/register', { json }), 'body.password');
    }),

    rule(
      'Profile update rules 4',
      'the password rules are re-applied against the resulting username and email',
      async (cast) => {
        const { ask, password: current_password } = await cast.person('ada');
        const form = { current_password, password: 'Teal_58-Harbour', username: 'harbour' };
        problems(await ask(400, 'PUT /profiles/me', { form }), 'body.password');
        const email = 'teal_58@example.org';
        problems(await ask(400, 'PUT /profiles/me', { form: { ...form, username: 'elk', email } }), 'body.password');
      },
    ),

    rule('Representation, errors', 'Every problem of one password is listed, not only the first', async (cast) => {
      const json = { ...cast.identity(), password: 'aaaa' };
      const answer = problems(await cast.nobody.ask(400, 'POST /auth/register', { json }), 'body.password');
      // Too short, no uppercase letter, no digit, no special character, a triple repeat.
      want(answer.body.errors.length >= 5, 'each of the five things that are wrong with it', answer);
    }),

    rule('Profile update rules 4', 'Changing password requires current_password', async (cast) => {
      const { ask } = await cast.person('ada');
      const form = { password: cast.identity().password };
      problems(await ask(400, 'PUT /profiles/me', { form }), 'body.current_password');
    }),

    rule('Status codes', 'wrong current_password on PUT /profiles/me: 401 Invalid password', async (cast) => {
      const { ask } = await cast.person('ada');
      const form = { password: cast.identity().password, current_password: 'Wrong-Harbour_58' };
      const answer = await ask(401, 'PUT /profiles/me', { form });
      want(answer.body.message === 'Invalid password', 'the message Invalid password', answer);
    }),

    rule('Status codes', 'current_password is checked whenever it is sent', async (cast) => {
      const { ask } = await cast.person('ada');
      const form = { name: 'Somebody Else', current_password: 'Wrong-Harbour_58' };
      await ask(401, 'PUT /profiles/me', { form });
    }),

    rule('Status codes', 'current_password as the only field: 400, nothing to change', async (cast) => {
      const { ask, password: current_password } = await cast.person('ada');
      problems(await ask(400, 'PUT /profiles/me', { form: { current_password } }), 'body.');
    }),

    rule('Session', 'password change: all sessions invalidated; every device must log in again', async (cast) => {
      const person = await cast.newcomer();
      const other = (await cast.login(person)).body.token;
      const { password } = cast.identity();
      const form = { password, current_password: person.password };
      const changed = await person.ask(200, 'PUT /profiles/me', { form });
      for (const token of [person.token, other]) await cast.nobody.ask(401, 'GET /auth/me', { token });
      await cast.nobody.ask(401, 'GET /auth/me', byCookie(person.token));
      want(/^fc_session_token=;/.test(changed.headers.get('set-cookie') ?? ''), 'a cleared cookie', changed);
      await cast.nobody.ask(401, 'POST /auth/login', { json: { email: person.email, password: person.password } });
      const { token } = (await cast.login({ ...person, password })).body;
      status(await cast.nobody.ask(200, 'GET /auth/me', { token }), 200);
    }),

    rule(
      'Authentication 2',
      'The token has claims jti (session id) and tvr (token version), which a password change raises',
      async (cast) => {
        const person = await cast.newcomer();
        const { password } = cast.identity();
        await person.ask(200, 'PUT /profiles/me', { form: { password, current_password: person.password } });
        const answer = await cast.login({ ...person, password });
        const claims = claimsOf(answer.body.token);
        want(typeof claims.jti === 'string' && claims.sub === String(person.id), 'claims jti and sub', answer);
        want(claims.tvr > claimsOf(person.token).tvr, 'a higher tvr after a password change', answer);
      },
    ),

    rule('Input rules, login', 'The password is not trimmed or transformed', async (cast) => {
      const who = { ...cast.identity(), password: `  ${cast.identity().password}\u212b ` };
      await cast.nobody.ask(201, 'POST /auth/register', { json: who });
      await cast.login(who);
      for (const password of [who.password.trim(), who.password.normalize('NFC')]) {
        await cast.nobody.ask(401, 'POST /auth/login', { json: { email: who.email, password } });
      }
    }),
  ],
};

/** RFC 7519: the second part of a token holds its claims. */
export function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}');
}
