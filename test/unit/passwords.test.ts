import t from 'tap';
import { passwordProblems } from '../../handlers/policy/passwords.js';

const LOWERCASE = 'needs_lowercase';
const UPPERCASE = 'needs_uppercase';
const DIGIT = 'needs_digit';
const SPECIAL = 'needs_special_character';
const USERNAME = 'contains_username';
const EMAIL = 'contains_email';
const COMMON = 'common_password';
const REPEAT = 'repeated_characters';
const SEQUENCE = 'obvious_sequence';

const account = { username: 'Ferry.Jo', email: 'jo-ann@example.org' };

function table(name: string, rows: readonly (readonly [password: string, ...problems: string[]])[]) {
  t.test(name, async (t) => {
    for (const [password, ...problems] of rows) t.same(passwordProblems(password, account), problems, password);
  });
}

table('valid passwords', [
  ['TestHarbour!77'],
  ['Kettle drum 42'],
  ['9-Lantern-Moss'],
  ['snake_Case_Ok5'],
  ['Ocean🐚Breeze8'],
  ['Größe-Maß-Ähre-6'],
]);

table('requires a lowercase letter of any alphabet', [
  ['TEST-HARBOUR-77', LOWERCASE],
  ['TEST-HARBOUR-ж7'],
  ['TEST-HARBOUR-ª7', LOWERCASE],
]);

table('requires an uppercase letter of any alphabet', [
  ['test-harbour-77', UPPERCASE],
  ['test-harbour-Ж7'],
  ['test-harbour-ǅ7', UPPERCASE],
]);

table('requires a digit of any script', [
  ['Test-Harbour-XY', DIGIT],
  ['Test-Harbour-٧'],
  ['Test-Harbour-𝟟'],
  ['Test-Harbour-Ⅶ', DIGIT],
  ['Test-Harbour-²', DIGIT],
]);

table('requires a special character, which is neither letter nor digit', [
  ['TestHarbour77', SPECIAL],
  ['TestHarbour日本٧7', SPECIAL],
  ['Test Harbour77'],
  ['Test_Harbour77'],
  ['Test😀Harbour77'],
  ['TestHarbour77\u0301'],
]);

table('rejects the username in any case and Unicode form', [
  ['Red ferry.jo 77', USERNAME],
  ['Red FERRY.JO 77', USERNAME],
  ['Red Ｆｅｒｒｙ.Jo 77', USERNAME],
  ['Red Ferry-Jo 77'],
]);

table('rejects the local part of the email in any case and Unicode form', [
  ['Red jo-ann 77', EMAIL],
  ['Red JO-ANN 77', EMAIL],
  ['Red 𝐣𝐨-𝐚𝐧𝐧 77', EMAIL],
  ['Red jo_ann 77'],
  ['Red example.org 7'],
]);

t.test('checks non-ASCII, short and missing usernames', async (t) => {
  const password = (username: string, password: string) => passwordProblems(password, { username });
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

table('rejects a character three times in a row', [
  ['Test-Harrrbour7', REPEAT],
  ['Test---Harbour7', REPEAT],
  ['Test\n\n\nHarbour7', REPEAT],
  ['Test😀😀😀Harbour7', REPEAT],
  ['Test-HarRrbour7'],
  ['Test😀😁😀Harbour7'],
  ['Test-Harrbourr77'],
  ['Te\u0301e\u0301e\u0301-Harbour7'],
]);

table('rejects four letters or digits in sequence', [
  ['Red-abcd-Key-77', SEQUENCE],
  ['Red-aBcD-Key-77', SEQUENCE],
  ['Red-wxyz-Key-77', SEQUENCE],
  ['Red-zyxw-Key-77', SEQUENCE],
  ['Red-Key-4567', SEQUENCE],
  ['Red-Key-3210', SEQUENCE],
  ['Red-abc-Key-77'],
  ['Red-yzab-Key-77'],
  ['Red-Key-7890'],
  ['Red-Key-1357'],
  ['Red-Key-12-34'],
]);

table('rejects sequences of a keyboard row', [
  ['Red-qwer-Key-77', SEQUENCE],
  ['Red-rewq-Key-77', SEQUENCE],
  ['Red-UIop-Key-77', SEQUENCE],
  ['Red-asdf-Key-77', SEQUENCE],
  ['Red-hjkl-Key-77', SEQUENCE],
  ['Red-zxcv-Key-77', SEQUENCE],
  ['Red-mnbv-Key-77', SEQUENCE],
  ['Red-ertyu-Key-77', SEQUENCE],
  ['Red-kjhgf-Key-77', SEQUENCE],
  ['Red-xcvbn-Key-77', SEQUENCE],
  ['Red-Liberty-Key-7'],
  ['Red-property-Key7'],
  ['Red-Dfgh-Key-77'],
  ['Red-ytre-Key-77'],
  ['Red-opas-Key-77'],
]);

t.test('lists every violated rule', async (t) => {
  const problems = passwordProblems('', account);
  t.same(problems, [LOWERCASE, UPPERCASE, DIGIT, SPECIAL]);
  t.same(passwordProblems('aaaabcd', { username: 'aa', email: 'b@example.org' }), [
    UPPERCASE,
    DIGIT,
    SPECIAL,
    USERNAME,
    EMAIL,
    REPEAT,
    SEQUENCE,
  ]);
});
