import type { RequestContent } from '../../client/index.js';
import { expectProblems, expectThat } from '../../expect.js';
import { textForm } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { type UnusualUser, unusualUser } from './users.js';
import { EMOJI, padded } from './values.js';

const PASSWORD_VARIANTS: [description: string, vary: (password: string) => string][] = [
  ['trimmed', (password) => password.trim()],
  ['trimmed at the start', (password) => password.trimStart()],
  ['trimmed at the end', (password) => password.trimEnd()],
  ['with a space before it', (password) => ` ${password}`],
  ['with a space after it', (password) => `${password} `],
  ['with a tab after it', (password) => `${password}\t`],
  ['with a line break after it', (password) => `${password}\n`],
  ['in another case', (password) => password.toLowerCase()],
  ['in another Unicode form', (password) => password.normalize('NFC')],
  ['cut short', (password) => password.slice(0, -1)],
];

/** The operations that check a password, and how a request carries it. */
const PASSWORD_CHECKS: [
  id: string,
  request: string,
  field: string,
  withPassword: (user: UnusualUser, password: string) => RequestContent,
][] = [
  ['login', 'POST /auth/login', 'password', ({ email }, password) => ({ json: { email, password } })],
  [
    'update',
    'PUT /profiles/me',
    'current_password',
    ({ token }, password) => ({ token, ...textForm({ name: 'A Name', current_password: password }) }),
  ],
  // Last: if the service accepts a wrong password, the account is deleted.
  ['delete', 'DELETE /profiles/me', 'password', ({ token }, password) => ({ token, json: { password } })],
];

export const exactPasswordRules = PASSWORD_CHECKS.flatMap(([id, request, field, withPassword]) => [
  rule(
    `passwords.exact.${id}`,
    `${request} compares ${field} exactly, without trimming, case folding or Unicode normalization.`,
    async (users) => {
      const user = await unusualUser(users);
      const send = (password: string) => users.anonymous.send([200, 400, 401], request, withPassword(user, password));
      await Promise.all(
        PASSWORD_VARIANTS.map(async ([description, vary]) => {
          const response = await send(vary(user.password));
          expectThat(response.status === 401, `401 for the password ${description}`, response);
        }),
      );
      // The password itself would delete the user, whom other rules need: see `exactPasswordDeletionRule`.
      if (id === 'delete') return;
      const response = await send(user.password);
      expectThat(response.status === 200, '200 for the password itself', response);
      expectThat(response.headers.has('set-cookie') === (id === 'login'), 'a cookie only from a login', response);
    },
  ),

  rule(
    `passwords.shape.${id}`,
    `${request} returns 400 for a ${field} that has more than 128 characters, or that contains NUL${field === 'password' ? ' or an unpaired surrogate' : ''}. A wrong ${field} of up to 128 characters returns 401, also with U+FFFD. An empty ${field} returns ${id === 'login' ? '401' : '400'}.`,
    async (users) => {
      const user = await unusualUser(users);
      const { password } = user;
      const send = (changed: string) => users.anonymous.send([200, 400, 401], request, withPassword(user, changed));
      const invalid = [padded(password, 129, EMOJI), `${password}\0`, `${password}\0more`, '\0'];
      const wrong = [padded(password, 128, 'x'), padded(password, 128, EMOJI), 'x', 'x\ufffd'];
      (id === 'login' ? wrong : invalid).push('');
      if (field === 'password') invalid.push(`${password}\ud800`);
      for (const changed of invalid) expectProblems(await send(changed), `body.${field}`);
      for (const changed of wrong) {
        const response = await send(changed);
        expectThat(response.status === 401, `401 for a wrong password of ${[...changed].length} characters`, response);
      }
    },
  ),
]);

export const exactPasswordDeletionRule = rule(
  'profiles.delete.exact',
  'DELETE /profiles/me accepts a password that starts and ends with whitespace, sent exactly as it was set.',
  async (users) => {
    const { token, email, password } = await unusualUser(users);
    await users.anonymous.send(200, 'DELETE /profiles/me', { token, json: { password } });
    await users.anonymous.send(401, 'POST /auth/login', { json: { email, password } });
    await users.anonymous.send(401, 'GET /auth/me', { token });
  },
);
