import { expectCode, expectEqual } from '../../expect.js';
import { pngFile, textForm } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { unusualUser, updatedUser } from './users.js';

/** Returns values that count as equal to the username or the email of an account. */
const equalValues = (username: string, email: string): [field: 'username' | 'email', value: string][] => [
  ['username', username],
  ['username', username.toUpperCase()],
  ['username', username.replace('t', '\uff54')],
  ['email', email],
  ['email', ` ${email.toUpperCase()} `],
];

/** Username endings that are equal under NFKC case folding. */
const EQUAL_UNDER_FOLDING = [
  ['k', '\uff2b'],
  ['\u212a', 'k'],
  ['\u00df', 'SS'],
  ['\u1e9e', 'ss'],
  ['\u03c2', '\u03a3'],
  ['\ufb01', 'FI'],
  ['e\u0301', '\u00c9'],
  ['\u0390', '\u03aa\u0301'],
] as const;

/**
 * Endings of usernames, and of the local parts of emails, that a service may wrongly take for equal. The upper case of the first
 * two usernames is the same, but they differ under NFKC case folding.
 */
const DIFFERENT_ENDINGS = [
  ['i', ''],
  ['\u0131', '+x'],
  ['e', '.x'],
  ['\u00e9', 'x'],
] as const;

export const takenRules: Rule[] = [
  rule(
    'accounts.username.unique-under-folding',
    'Usernames are unique under NFKC case folding: a taken username in another letter case or Unicode form returns 409 username_taken.',
    async (users) => {
      const holder = await users.register();
      const take = (username: string) => holder.send(200, 'PUT /profiles/me', textForm({ username }));
      const register = (status: number, username: string) =>
        users.anonymous.send(status, 'POST /auth/register', { json: { ...users.newUser(), username } });
      const { username } = users.newUser();
      for (const [one, other] of EQUAL_UNDER_FOLDING.flatMap(([one, other]) => [
        [one, other],
        [other, one],
      ])) {
        await take(username + one);
        expectCode(await register(409, username + other), 'username_taken');
      }
    },
  ),

  rule(
    'accounts.register.similar-names',
    'POST /auth/register accepts usernames that differ under NFKC case folding, and emails that differ after trimming and lowercasing, however similar they are.',
    async (users) => {
      const { username, email } = users.newUser();
      for (const [usernameEnding, localPartEnding] of DIFFERENT_ENDINGS) {
        const names = { username: username + usernameEnding, email: email.replace('@', `${localPartEnding}@`) };
        await users.anonymous.send(201, 'POST /auth/register', { json: { ...users.newUser(), ...names } });
      }
    },
  ),

  rule(
    'register.taken',
    'POST /auth/register returns 409 username_taken or email_taken for a taken username or email. Usernames are compared under NFKC case folding, emails after trimming and lowercasing.',
    async (users) => {
      const { username, email } = await unusualUser(users);
      for (const [field, value] of equalValues(username, email)) {
        const json = { ...users.newUser(), [field]: value };
        expectCode(await users.anonymous.send(409, 'POST /auth/register', { json }), `${field}_taken`);
      }
      await users.anonymous.send(409, 'POST /auth/register', { json: { ...users.newUser(), username, email } });
    },
  ),

  rule(
    'profiles.update.taken',
    'PUT /profiles/me returns 409 username_taken or email_taken for the username or email of another account, compared as at registration, and changes nothing, not even other fields of the form. A former username can be taken.',
    async (users) => {
      const { username, email } = await unusualUser(users);
      const user = await updatedUser(users);
      const before = (await user.send(200, 'GET /auth/me')).body;
      const { body: profile } = await user.send(200, 'GET /profiles/me');
      for (const [field, value] of equalValues(username, email))
        expectCode(await user.send(409, 'PUT /profiles/me', textForm({ [field]: value })), `${field}_taken`);
      const passwords = { password: users.newUser().password, current_password: user.password };
      const form = { username, name: 'Not stored', private: 'true', image: pngFile(), ...passwords };
      await user.send(409, 'PUT /profiles/me', { form });
      const response = await user.send(200, 'GET /auth/me');
      expectEqual(response, 'the account, unchanged', response.body, before);
      const unchanged = await user.send(200, 'GET /profiles/me');
      expectEqual(unchanged, 'the profile, unchanged', unchanged.body, profile);
      await user.send(200, 'PUT /profiles/me', textForm({ username: users.newUser().username }));
      const other = await users.register();
      await other.send(200, 'PUT /profiles/me', textForm({ username: before.username }));
    },
  ),
];
