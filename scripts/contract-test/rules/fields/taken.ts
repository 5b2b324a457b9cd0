import { expectCode, expectEqual } from '../../expect.js';
import { textForm } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { exactPasswordUser, updatedUser } from './users.js';

/** Returns fields that equal the username or the email of an account, in different spellings. */
const equalFields = (username: string, email: string): Record<string, string>[] => [
  { username },
  { username: username.toUpperCase() },
  { username: username.replace('k', '\uff4b') },
  { email },
  { email: ` ${email.toUpperCase()} ` },
];

export const takenRules: Rule[] = [
  rule(
    'register.taken',
    'POST /auth/register returns 409 username_taken or email_taken for a taken username or email. Usernames are compared under NFKC case folding, emails after trimming and lowercasing.',
    async (users) => {
      const { username, email } = await exactPasswordUser(users);
      for (const taken of equalFields(username, email)) {
        const json = { ...users.newUser(), ...taken };
        expectCode(await users.anonymous.send(409, 'POST /auth/register', { json }), `${Object.keys(taken)[0]}_taken`);
      }
      await users.anonymous.send(409, 'POST /auth/register', { json: { ...users.newUser(), username, email } });
    },
  ),

  rule(
    'profiles.update.taken',
    'PUT /profiles/me returns 409 username_taken or email_taken for the username or email of another account, compared as at registration, and changes nothing.',
    async (users) => {
      const { username, email } = await exactPasswordUser(users);
      const user = await updatedUser(users);
      const before = (await user.send(200, 'GET /auth/me')).body;
      const withName: Record<string, string> = { username, name: 'Not stored' };
      for (const taken of [...equalFields(username, email), withName]) {
        const response = await user.send(409, 'PUT /profiles/me', textForm(taken));
        expectCode(response, `${Object.keys(taken)[0]}_taken`);
      }
      const response = await user.send(200, 'GET /auth/me');
      expectEqual(response, 'the account, unchanged', response.body, before);
      // Another user can take a former username.
      await user.send(200, 'PUT /profiles/me', textForm({ username: users.newUser().username }));
      const { token } = await exactPasswordUser(users);
      await users.anonymous.send(200, 'PUT /profiles/me', { token, ...textForm({ username: before.username }) });
    },
  ),
];
