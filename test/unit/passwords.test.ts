import t from 'tap';
import { passwordProblems } from '../../handlers/policy/passwords.js';

/* Covers what the contract rules `passwords.*` do not: more names, common passwords and near misses. */

function table(name: string, rows: readonly (readonly [password: string, ...problems: string[]])[]) {
  t.test(name, async (t) => {
    for (const [password, ...problems] of rows) t.same(passwordProblems(password, {}), problems, password);
  });
}

t.test('checks non-ASCII and missing names', async (t) => {
  for (const [username, password, isRejected, what] of [
    ['Ferry.Jo', 'Red Ferry-Jo 77', false, 'a similar text'],
    ['jose', 'Red José Kettle 7', false, 'another letter'],
    ['straße', 'Red STRASSE Key 7', true, 'sharp s, written in capitals'],
    ['stra\u1e9ee', 'Red straße Key 7', true, 'capital sharp s'],
    ['οδος', 'Red ΟΔΟΣΑ Key 7', true, 'final sigma'],
    ['😀', 'Red 😀 Kettle 7', true, 'an emoji'],
    ['😀', 'Red 😁 Kettle 7', false, 'an emoji that shares a surrogate'],
    [undefined, 'TestHarbour!77', false, 'no account'],
    ['', 'TestHarbour!77', false, 'an empty username'],
    ['\u200b', 'TestHarbour!77', false, 'a username of invisible characters'],
  ] as const) {
    t.same(passwordProblems(password, { username }), isRejected ? ['contains_username'] : [], what);
  }
  const withEmail = (password: string) => passwordProblems(password, { email: 'jo-ann@example.org' });
  t.same(withEmail('Red 𝐣𝐨-𝐚𝐧𝐧 77'), ['contains_email']);
  t.same(withEmail('Red jo_ann 77'), []);
  t.same(passwordProblems('TestHarbour!77', { email: '' }), []);
  t.same(passwordProblems('TestHarbour!77', { email: '\u2060@example.org' }), []);
});

table('decides by Unicode categories which characters are letters, digits and special', [
  ['test-harbour-ǅ7', 'needs_uppercase'],
  ['TestHarbour٧7', 'needs_special_character'],
  ['TestHarbour77\u0301'],
]);

table('rejects common passwords', [
  ['P030710p$e4o', 'common_password'],
  ['P030710p$e4oX'],
  ['Minnesota_HP', 'needs_digit', 'common_password'],
  ['PasswordPassword', 'needs_digit', 'needs_special_character', 'common_password'],
]);

table('rejects decorated versions of very common passwords', [
  ['M1che11e!-2026', 'common_password'],
  ['1qaz2Wsx!-2026', 'common_password'],
  ['F00tb@ll 😀 77', 'common_password'],
]);

table('accepts passwords similar to common ones', [
  ['Password-Kettle7'],
  ['Biscuit!!2026'],
  ['Siso!-2026-77'],
  ['Marlborough!77'],
  ['!77-2026-!-Aa'],
]);

table('distinguishes repetitions and sequences from similar texts', [
  ['Test\n\n\nHarbour7', 'repeated_characters'],
  ['Test😀😁😀Harbour7'],
  ['Te\u0301e\u0301e\u0301-Harbour7'],
  ['Red-Key-1357'],
  ['Red-Key-12-34'],
  ['Red-opas-Key-77'],
]);
