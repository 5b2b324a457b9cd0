import type { CheckedResponse } from '../../exchange.js';
import { expectProblems, expectThat } from '../../expect.js';
import { textForm } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';
import { exactUser } from './users.js';
import { FISH, padded } from './values.js';

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

/** Operations that check a password. */
const PASSWORD_CHECKS: [
  id: string,
  title: string,
  field: string,
  send: (users: TestUsers, password: string) => Promise<CheckedResponse>,
][] = [
  [
    'login',
    'POST /auth/login',
    'password',
    async (users, password) => {
      const { email } = await exactUser(users);
      return users.anonymous.send([200, 400, 401], 'POST /auth/login', { json: { email, password } });
    },
  ],
  [
    'delete',
    'DELETE /profiles/me',
    'password',
    async (users, password) => {
      const { token } = await exactUser(users);
      return users.anonymous.send([200, 400, 401], 'DELETE /profiles/me', { token, json: { password } });
    },
  ],
  [
    'update',
    'PUT /profiles/me',
    'current_password',
    async (users, password) => {
      const { token } = await exactUser(users);
      const form = textForm({ name: 'A Name', current_password: password });
      return users.anonymous.send([200, 400, 401], 'PUT /profiles/me', { token, ...form });
    },
  ],
];

export const exactPasswordRules = PASSWORD_CHECKS.flatMap(([id, title, field, send]) => [
  rule(
    `passwords.exact.${id}`,
    `${title} compares ${field} exactly, without trimming, case folding or Unicode normalization.`,
    async (users) => {
      const { password } = await exactUser(users);
      await Promise.all(
        PASSWORD_VARIANTS.map(async ([description, vary]) => {
          const response = await send(users, vary(password));
          expectThat(response.status === 401, `401 for the password ${description}`, response);
        }),
      );
      if (id === 'delete') return;
      const response = await send(users, password);
      expectThat(response.status === 200, '200 for the password itself', response);
      expectThat(response.headers.has('set-cookie') === (id === 'login'), 'a cookie only from a login', response);
    },
  ),

  rule(
    `passwords.shape.${id}`,
    `${title} returns 400 for a ${field} that has more than 128 characters, or that contains NUL or, in JSON, an unpaired surrogate. A wrong ${field} of up to 128 characters returns 401. An empty ${field} returns ${id === 'login' ? '401' : '400'}.`,
    async (users) => {
      const { password } = await exactUser(users);
      const unpaired = field === 'password' ? [`${password}\ud800`] : [];
      const empty = id === 'login' ? { wrong: [''], invalid: [] } : { wrong: [], invalid: [''] };
      const invalidPasswords = [
        padded(password, 129, FISH),
        `${password}\0`,
        `${password}\0more`,
        '\0',
        ...unpaired,
        ...empty.invalid,
      ];
      for (const invalid of invalidPasswords) {
        expectProblems(await send(users, invalid), `body.${field}`);
      }
      for (const wrong of [padded(password, 128, 'x'), padded(password, 128, FISH), 'x', ...empty.wrong]) {
        const response = await send(users, wrong);
        expectThat(response.status === 401, `401 for a wrong password of ${[...wrong].length} characters`, response);
      }
    },
  ),
]);

export const exactPasswordDeletionRule = rule(
  'profiles.delete.exact',
  'DELETE /profiles/me accepts a password that starts and ends with whitespace, sent exactly as it was registered.',
  async (users) => {
    const { token, email, password } = await exactUser(users);
    await users.anonymous.send(200, 'DELETE /profiles/me', { token, json: { password } });
    await users.anonymous.send(401, 'POST /auth/login', { json: { email, password } });
    await users.anonymous.send(401, 'GET /auth/me', { token });
  },
);
