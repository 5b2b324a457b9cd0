import t from 'tap';
import { passwordProblems } from '../../handlers/policy/passwords.js';

/* Covers what the contract tests of the password policy (`passwords.*`) do not: more names, common passwords, near misses. */

const DIGIT = 'needs_digit';
const SPECIAL = 'needs_special_character';
const USERNAME = 'contains_username';
const EMAIL = 'contains_email';
const COMMON = 'common_password';

function table(name: string, rows: readonly (readonly [password: string, ...problems: string[]])[]) {
  t.test(name, async (t) => {
    for (const [password, ...problems] of rows) t.same(passwordProblems(password, {}), problems, password);
  });
}

t.test('checks non-ASCII, short and missing usernames', async (t) => {
  const password = (username: string, password: string) => passwordProblems(password, { username });
  t.same(password('Ferry.Jo', 'Red Ferry-Jo 77'), [], 'a similar text');
  t.same(password('José', 'Red JOSE\u0301 Kettle 7'), [USERNAME], 'composed and decomposed');
  t.same(password('jose', 'Red José Kettle 7'), [], 'another letter');
  t.same(password('straße', 'Red STRASSE Key 7'), [USERNAME], 'sharp s, written in capitals');
  t.same(password('stra\u1e9ee', 'Red straße Key 7'), [USERNAME], 'capital sharp s');
  t.same(password('οδος', 'Red ΟΔΟΣΑ Key 7'), [USERNAME], 'final sigma');
  t.same(password('😀', 'Red 😀 Kettle 7'), [USERNAME], 'an emoji');
  t.same(password('😀', 'Red 😁 Kettle 7'), [], 'an emoji that shares a surrogate');
  t.same(password('k', 'Red Kettle 77'), [USERNAME], 'one character');
  t.same(passwordProblems('TestHarbour!77', {}), [], 'no account');
  t.same(passwordProblems('TestHarbour!77', { username: '', email: '' }), [], 'empty fields');
});

t.test('checks the local part of the email in any Unicode form, and not its domain', async (t) => {
  const password = (password: string) => passwordProblems(password, { email: 'jo-ann@example.org' });
  t.same(password('Red 𝐣𝐨-𝐚𝐧𝐧 77'), [EMAIL]);
  t.same(password('Red jo_ann 77'), []);
  t.same(password('Red example.org 7'), []);
});

table('decides by Unicode categories which characters are letters, digits and special', [
  ['test-harbour-ǅ7', 'needs_uppercase'],
  ['TestHarbour٧7', SPECIAL],
  ['TestHarbour77\u0301'],
]);

table('rejects common passwords', [
  ['P030710p$e4o', COMMON],
  ['P030710p$e4oX'],
  ['Minnesota_HP', DIGIT, COMMON],
  ['PasswordPassword', DIGIT, SPECIAL, COMMON],
]);

table('rejects decorated versions of very common passwords', [
  ['Password123!', COMMON],
  ['PASSWORd!!88**', COMMON],
  ['P@$$w0rd-2026', COMMON],
  ['L3tm31n!!2026', COMMON],
  ['M1che11e!-2026', COMMON],
  ['We1come!-2026', COMMON],
  ['Snowman!-2026', COMMON],
  ['1qaz2Wsx!-2026', COMMON],
  ['F00tb@ll 😀 77', COMMON],
]);

table('accepts passwords similar to common ones', [
  ['TestHarbour!77'],
  ['Password-Kettle7'],
  ['Biscuit!!2026'],
  ['Siso!-2026-77'],
  ['Marlborough!77'],
  ['!77-2026-!-Aa'],
]);

table('distinguishes repetitions and sequences from similar texts', [
  ['Test\n\n\nHarbour7', 'repeated_characters'],
  ['Test-HarRrbour7'],
  ['Test😀😁😀Harbour7'],
  ['Te\u0301e\u0301e\u0301-Harbour7'],
  ['Red-yzab-Key-77'],
  ['Red-Key-7890'],
  ['Red-Key-1357'],
  ['Red-Key-12-34'],
  ['Red-property-Key7'],
  ['Red-opas-Key-77'],
]);
