import { expectProblemCodes } from '../../expect.js';
import { type Rule, rule } from '../../rule.js';
import { expectPasswordProblems, passwordRule } from './user.js';

/** Returns all sequences of four adjacent characters of a text, ascending and, in upper case, descending. */
const sequencesOf = (characters: string): string[] =>
  Array.from({ length: characters.length - 3 }, (_, index) => characters.slice(index, index + 4)).flatMap(
    (sequence) => [sequence, [...sequence.toUpperCase()].reverse().join('')],
  );

/** Passwords that each break exactly one requirement. A requirement completes the sentence "A password must …". */
const REJECTED: [id: string, requirement: string, code: string, passwords: string[]][] = [
  ['too-short', 'have at least 12 characters (code points)', 'too_short', ['Teal-Lan_58', 'Teal-Lan_5🐟']],
  ['too-long', 'have at most 128 characters (code points)', 'too_long', [`Teal-Lantern_58${' ab'.repeat(38)}`]],
  [
    'lowercase',
    'contain a lowercase letter (Unicode category Ll)',
    'needs_lowercase',
    ['TEAL-LANTERN_58', 'TEAL-LANTERNʰ_58'],
  ],
  [
    'uppercase',
    'contain an uppercase letter (Unicode category Lu)',
    'needs_uppercase',
    ['teal-lantern_58', 'teal-lanternⅧ_58'],
  ],
  ['digit', 'contain a digit (Unicode category Nd)', 'needs_digit', ['Teal-Lantern_xy', 'Teal-Lantern_²½']],
  [
    'special-character',
    'contain a special character, which is neither a letter nor a digit',
    'needs_special_character',
    ['TealLantern58xy', 'TealLanternéß58', 'TealLantern58水'],
  ],
  [
    'common',
    'not be a common password, ignoring case, even with digits and symbols appended',
    'common_password',
    ['Password123!', 'paSSword!2026', 'Sunshine#2026', 'Football_2026!', 'Liverpool#2026', 'Midnight#2026'],
  ],
  [
    'look-alikes',
    'not be a common password in which look-alike characters replace letters, such as @ for a and 0 for o',
    'common_password',
    [
      'P4ssw0rd!!20!',
      'P@ssword!2026',
      'Passw0rd!2026',
      'B@seb@ll#2026',
      'F00tball#2026',
      'Pa$$word#2026',
      'Sup3rman#2026',
      'Pr1ncess#2026',
      'Sun5hine#2026',
    ],
  ],
  [
    'triple-repeat',
    'not contain the same character three times in a row',
    'repeated_characters',
    ['Teal-Lannntern_58', 'Teal---Lantern_58', 'Teal-Lantern_5888', 'Teal-Lantern_58🐟🐟🐟', 'Teal   Lantern_58'],
  ],
  [
    'letter-sequence',
    'not contain four consecutive letters of the alphabet, ascending or descending, ignoring case',
    'obvious_sequence',
    sequencesOf('abcdefghijklmnopqrstuvwxyz').map((sequence) => `Teal-Lantern_58-${sequence}`),
  ],
  [
    'digit-sequence',
    'not contain four consecutive digits, ascending or descending',
    'obvious_sequence',
    sequencesOf('0123456789').map((sequence) => `Teal-Lantern_${sequence}`),
  ],
  [
    'keyboard-row-end',
    'not contain the first or the last four keys of a keyboard row in sequence, in either direction, ignoring case',
    'obvious_sequence',
    ['QweR', 'rewq', 'uiop', 'poiu', 'asdf', 'fdsa', 'hjkl', 'lkjh', 'zxcv', 'vcxz', 'vbnm', 'mnbv'].map(
      (sequence) => `Teal-Lantern_58-${sequence}`,
    ),
  ],
  [
    'keyboard-row',
    'not contain five adjacent keys of a keyboard row in sequence, in either direction, ignoring case',
    'obvious_sequence',
    ['sdfgh', 'hgfds', 'wERTY', 'ytrew', 'xcvbn', 'nbvcx'].map((sequence) => `Teal-Lantern_58-${sequence}`),
  ],
];

const ACCEPTED: [id: string, sentence: string, passwords: string[]][] = [
  ['not-common', 'TestHarbour!77 is not a common password and is accepted.', ['TestHarbour!77']],
  [
    'length',
    'A password of 12 and one of 128 characters (code points) are accepted.',
    ['Teal-Lan_587', `Teal-Lantern_58${'🐟a'.repeat(56)}b`],
  ],
  [
    'inside-keyboard-row',
    'Four adjacent keys from the middle of a keyboard row are accepted, such as erty in Liberty.',
    ['Liberty-Lamp_58', 'Teal-Lantern_58-fghj', 'Teal-Lantern_58-bvcx'],
  ],
  [
    'short-sequence',
    'Two equal characters in a row, the same letter three times in different cases, and three keys, letters or digits in sequence are accepted. No sequence continues from z to a, or from 9 to 0.',
    [
      'Teal-Lantern_588',
      'Teal-LantnNn_58',
      'Teal-Lantern_58🐟🐟',
      'Teal-Lantern_58-qwe',
      'Teal-Lantern_58-xyz',
      'Teal-Lantern_789',
      'Teal-Lantern_7890',
      'Teal-Lantern_58-yzab',
    ],
  ],
  [
    'special-characters',
    'A special character is any character other than a letter or a digit, such as a space, _ or an emoji.',
    ['Teal Lantern 58', 'Teal_Lantern_58', 'TealLantern58🐟', 'TealLantern58½'],
  ],
  [
    'unicode-classes',
    'Lowercase letters, uppercase letters and digits are the Unicode categories Ll, Lu and Nd.',
    ['ßÄÖ-quiet-٣-Ünde', 'ß-ÄÖÜ-ÄÖÜ-ÄÖ٣'],
  ],
];

/** Fields of a registration or an update. */
type Fields = Record<string, string>;

/** Passwords that contain the username, or the local part of the email. */
const CONTAINED: [id: string, part: string, code: string, cases: [fields: Fields, password: string][]][] = [
  [
    'username',
    'username',
    'contains_username',
    [
      [{ username: 'Harbour' }, 'Teal_58-hARBOUR'],
      [{ username: 'qz' }, 'Teal-Lantern_58QZ'],
      [{ username: 'seal' }, 'Teal_58-ＳＥＡＬ-Lantern'],
      [{ username: 'é' }, 'Teal-Lantern_58e\u0301'],
    ],
  ],
  [
    'email-local-part',
    'local part of the email',
    'contains_email',
    [
      [{ email: 'seal@example.org' }, 'Teal_58-ＳＥＡＬ-Lantern'],
      [{ email: 'harbour.seal@example.org' }, 'Teal_58-Harbour.Seal'],
      [{ email: 'qz@example.org' }, 'Teal-Lantern_58QZ'],
    ],
  ],
];

/** Fields that share a part with the password Teal_58-Harbour, which is valid with each of them. */
const PERMITTED_PARTS: Fields[] = [
  { username: 'harbour-seal' },
  { email: 'harbour.seal@example.org' },
  { email: 'harbour+seal@example.org' },
  { email: 'elk@harbour.org' },
  { name: 'Harbour' },
];

export const policyRules: Rule[] = [
  ...REJECTED.map(([id, requirement, code, passwords]) =>
    passwordRule(
      `passwords.policy.${id}`,
      `A password must ${requirement}. Otherwise the request returns 400 with the code ${code}.`,
      async (user) => {
        for (const password of passwords) await expectPasswordProblems(user, { password }, code);
      },
    ),
  ),

  ...ACCEPTED.map(([id, sentence, passwords]) =>
    passwordRule(`passwords.accepted.${id}`, sentence, async (user) => {
      for (const password of passwords) await expectPasswordProblems(user, { password });
    }),
  ),

  passwordRule(
    'passwords.policy.unchanged-username',
    'A new password must not contain the username, even if the update leaves the username unchanged.',
    async (user) => {
      const password = `Teal_58${user.username.toUpperCase()}`;
      await expectPasswordProblems(user, { password }, 'contains_username', 'contains_email');
    },
  ),

  ...CONTAINED.map(([id, part, code, cases]) =>
    passwordRule(
      `passwords.policy.${id}`,
      `A password must not contain the ${part}, however short, ignoring case and Unicode form. Otherwise the request returns 400 with the code ${code}.`,
      async (user, users) => {
        for (const [fields, password] of cases) {
          await expectPasswordProblems(user, { ...fields, password }, code);
          const json = { ...users.newUser(), ...fields, password };
          expectProblemCodes(await users.anonymous.send(400, 'POST /auth/register', { json }), `body.password ${code}`);
        }
      },
    ),
  ),

  rule(
    'passwords.accepted.parts-of-names',
    'A password may contain the name, a part of the username or of the local part of the email, and the domain of the email.',
    async (users) => {
      for (const fields of PERMITTED_PARTS) {
        // The undocumented field prevents the registration. Only its problem is listed if the password is valid.
        const json = { ...users.newUser(), ...fields, password: 'Teal_58-Harbour', extra: 1 };
        const response = await users.anonymous.send(400, 'POST /auth/register', { json });
        expectProblemCodes(response, 'body.extra unknown_field');
      }
    },
  ),

  rule(
    'passwords.policy.lists-every-problem',
    'A 400 lists every requirement that a password does not meet, not only the first.',
    async (users) => {
      const json = { ...users.newUser(), password: 'aaaa' };
      const response = await users.anonymous.send(400, 'POST /auth/register', { json });
      const codes = ['too_short', 'needs_uppercase', 'needs_digit', 'needs_special_character', 'repeated_characters'];
      expectProblemCodes(response, ...codes.map((code) => `body.password ${code}`));
    },
  ),
];
