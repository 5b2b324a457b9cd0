import { dictionary } from '@zxcvbn-ts/language-common';
import { nfkcCasefold } from '../../db/support/casefold.js';
import type { FieldCode } from '../error-codes.js';

/** The fields of an account that its password must not contain; of the email address, only the part before the @. */
export interface AccountNames {
  username?: string | undefined;
  email?: string | undefined;
}

/** Returns the code of each rule of the password policy that a password breaks. The length is checked by the schema. */
export function passwordProblems(password: string, account: AccountNames): FieldCode[] {
  const folded = nfkcCasefold(password);
  return RULES.filter(([isBroken]) => isBroken(password, account, folded)).map(([, code]) => code);
}

/**
 * A function that returns whether a password breaks a rule, and the code of the rule. `folded` is the password
 * under NFKC case folding. Computing it is expensive, so all rules share it.
 */
type PasswordRule = [isBroken: (password: string, account: AccountNames, folded: string) => boolean, code: FieldCode];

const RULES: PasswordRule[] = [
  [(password) => !/\p{Ll}/u.test(password), 'needs_lowercase'],
  [(password) => !/\p{Lu}/u.test(password), 'needs_uppercase'],
  [(password) => !/\p{Nd}/u.test(password), 'needs_digit'],
  [(password) => !/[^\p{L}\p{Nd}]/u.test(password), 'needs_special_character'],
  [(_, { username }, folded) => contains(folded, username), 'contains_username'],
  [(_, { email }, folded) => contains(folded, email?.split('@')[0]), 'contains_email'],
  [isCommon, 'common_password'],
  [(password) => /(.)\1\1/su.test(password), 'repeated_characters'],
  [hasSequence, 'obvious_sequence'],
];

/** Returns whether a folded password contains a text. Ignores case and Unicode form. A text of invisible characters folds to ''. */
function contains(folded: string, part = ''): boolean {
  const foldedPart = nfkcCasefold(part);
  return foldedPart !== '' && folded.includes(foldedPart);
}

/** Characters that look like letters. `1`, `!` and `|` look like both i and l, so i and l count as the same letter. */
const LOOK_ALIKES = { a: '@4', b: '8', e: '3', g: '69', i: '1!|l', o: '0', s: '5$', t: '7+', z: '2' };
/** The letter that each look-alike stands for. */
const LETTERS = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([letter, characters]) =>
    Array.from(characters, (character) => [character, letter] as const),
  ),
);

/** Common passwords in lower case, the most common first. */
const rankedPasswords = dictionary['passwords-common'];
const COMMON_PASSWORDS = new Set(rankedPasswords);

/**
 * The stems of very common passwords, without look-alikes. The stem of a password ends at its last letter. Passwords that do
 * not end with a letter are omitted, because undoing look-alikes would turn them into other words: 5150 would become siso,
 * and siso followed by digits or symbols would be refused.
 */
const COMMON_STEMS = new Set(
  rankedPasswords
    .slice(0, 1000)
    .filter((word) => /[a-z]$/.test(word))
    .map(undoLookAlikes),
);

/** Returns whether a password is common, or a very common one with look-alikes, or with digits or symbols added at the end. */
function isCommon(password: string): boolean {
  const lowercase = password.toLowerCase();
  const [stem = ''] = lowercase.match(/^.*\p{L}/su) ?? [];
  return COMMON_PASSWORDS.has(lowercase) || COMMON_STEMS.has(undoLookAlikes(stem));
}

function undoLookAlikes(text: string): string {
  return Array.from(text, (character) => LETTERS.get(character) ?? character).join('');
}

/** Four consecutive letters or digits, five neighboring keys of a keyboard row, or four at the start or end of the row. */
const FORWARD_SEQUENCES = [
  ...['abcdefghijklmnopqrstuvwxyz', '0123456789'].flatMap((line) => substrings(line, 4)),
  ...['qwertyuiop', 'asdfghjkl', 'zxcvbnm'].flatMap((row) => [row.slice(0, 4), row.slice(-4), ...substrings(row, 5)]),
];
const SEQUENCES = [...FORWARD_SEQUENCES, ...FORWARD_SEQUENCES.map((sequence) => [...sequence].reverse().join(''))];

/** Returns whether a password contains an obvious sequence, forwards or backwards. */
function hasSequence(password: string): boolean {
  const lowercase = password.toLowerCase();
  return SEQUENCES.some((sequence) => lowercase.includes(sequence));
}

function substrings(line: string, length: number): string[] {
  return Array.from({ length: line.length - length + 1 }, (_, start) => line.slice(start, start + length));
}
