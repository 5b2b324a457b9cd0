import t from 'tap';
import { usernameKey } from '../db/accounts.js';
import { up } from '../db/postgres/migrations/0007-username-keys.js';
import { validators } from '../generated/validators.js';
import { usernameProblems } from '../handlers/policy/usernames.js';
import { openTestStores } from './support/stores.js';

/** Blank characters that are neither white space nor default-ignorable code points. */
const BLANK = ['\u2800', '\ufffc', '\u{13441}', '\u{13442}', '\u{16fe4}', '\u{1d159}'];

/** Matches characters that case folding changes or produces. */
const FOLDED = /[\p{Changes_When_NFKC_Casefolded}\p{Cased}\p{Changes_When_Casemapped}]/u;

const hex = (text: string) => [...text].map((c) => `U+${c.codePointAt(0)?.toString(16)}`).join(' ');

function* characters(): Generator<string> {
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
    if (codePoint < 0xd800 || codePoint > 0xdfff) yield String.fromCodePoint(codePoint);
  }
}

function isAccepted(username: string): boolean {
  const body = { name: 'x', username, email: 'x@example.org', password: 'Quiet-Harbour-27!' };
  return validators.register.body(body) && usernameProblems(username).length === 0;
}

t.test('accepts in a username every code point that is neither white space nor invisible', async (t) => {
  const invisible = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
  const mismatches: string[] = [];
  let refused = 0;
  for (const character of characters()) {
    const expected = !invisible.test(character) && !BLANK.includes(character);
    if (!expected) refused++;
    if (isAccepted(`a${character}b`) !== expected) mismatches.push(hex(character));
  }
  t.same(mismatches, []);
  t.ok(refused > 4000, `${refused} are refused`);
});

// Usernames with these characters were accepted in the past.
t.test('the key ignores invisible characters', async (t) => {
  for (const username of ['a\u034fda', 'ada\ufe0f', 'a\u3164da']) t.equal(usernameKey(username), usernameKey('ada'));
});

t.test('the key matches the simple case folding of regular expressions for every code point', async (t) => {
  const classes = new Map<string, string[]>();
  const mismatches: string[] = [];
  for (const character of characters()) {
    if (!FOLDED.test(character) || /\p{Default_Ignorable_Code_Point}/u.test(character)) continue;
    const key = usernameKey(character);
    for (const form of [character.toLowerCase(), character.normalize('NFKC'), character.normalize('NFD'), key])
      if (usernameKey(form) !== key) mismatches.push(`${hex(character)} and ${hex(form)}`);
    const upper = character.toUpperCase();
    if (character.normalize('NFKC') !== 'ı' && usernameKey(upper) !== key) mismatches.push(hex(character));
    if (character.normalize('NFKC') === character) classes.set(key, [...(classes.get(key) ?? []), character]);
  }
  for (const [first = '', ...others] of classes.values()) {
    for (const other of others)
      if (!new RegExp(`^${first}$`, 'iu').test(other)) mismatches.push(`${hex(first)}, ${hex(other)}`);
  }
  t.same(mismatches, []);
});

t.test('the migration updates old keys unless another account has the new key', async (t) => {
  const { db } = await openTestStores(t);
  const old = [
    ['kır', 'KIR'],
    ['ada', 'ADA'],
    ['ada\ufe0f', 'ADA\ufe0f'],
    ['bob\u3164', 'BOB\u1160'],
    ['straße', 'STRASSE'],
  ] as const;
  const accounts = old.map(([username, username_key], index) => ({
    name: 'x',
    username,
    username_key,
    email: `${index}@people.example`,
    password_hash: 'x',
  }));
  await db.insertInto('accounts').values(accounts).execute();
  for (const run of ['once', 'twice']) {
    await up(db as never);
    const rows = await db.selectFrom('accounts').select(['username', 'username_key']).orderBy('id').execute();
    const keys = rows.map(({ username_key }) => username_key);
    t.same(keys, ['KıR', 'ADA', 'ADA\ufe0f', 'BOB', 'STRASSE'], run);
  }
});
