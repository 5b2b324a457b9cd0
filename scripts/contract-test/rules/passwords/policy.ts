import { expectProblemCodes, expectProblems } from '../../expect.js';
import { type Rule, rule } from '../../rule.js';

/** Another problem in a form, so that a service that accepts the password still changes nothing. */
const BLANK_NAME = { name: ' ' };

/** Returns all sequences of four of these characters, ascending and, in upper case, descending. */
const sequencesOf = (characters: string): string[] =>
  Array.from({ length: characters.length - 3 }, (_, index) => characters.slice(index, index + 4)).flatMap(
    (sequence) => [sequence, [...sequence.toUpperCase()].reverse().join('')],
  );

/** Passwords that each break exactly one requirement of the policy. */
const REJECTED: [id: string, sentence: string, code: string, passwords: string[]][] = [
  [
    'passwords.policy.too-short',
    'A password must have at least 12 characters (code points).',
    'too_short',
    ['Teal-Lan_58', 'Teal-Lan_5🐟'],
  ],
  [
    'passwords.policy.too-long',
    'A password must have at most 128 characters (code points).',
    'too_long',
    [`Teal-Lantern_58${' ab'.repeat(38)}`],
  ],
  [
    'passwords.policy.lowercase',
    'A password must contain a lowercase letter (Unicode category Ll).',
    'needs_lowercase',
    ['TEAL-LANTERN_58', 'TEAL-LANTERNʰ_58'],
  ],
  [
    'passwords.policy.uppercase',
    'A password must contain an uppercase letter (Unicode category Lu).',
    'needs_uppercase',
    ['teal-lantern_58', 'teal-lanternⅧ_58'],
  ],
  [
    'passwords.policy.digit',
    'A password must contain a digit (Unicode category Nd).',
    'needs_digit',
    ['Teal-Lantern_xy', 'Teal-Lantern_²½'],
  ],
  [
    'passwords.policy.special-character',
    'A password must contain a special character, which is neither a letter nor a digit.',
    'needs_special_character',
    ['TealLantern58xy', 'TealLanternéß58', 'TealLantern58水'],
  ],
  [
    'passwords.policy.common',
    'A password must not be a common password, ignoring case, even with digits and symbols appended.',
    'common_password',
    ['Password123!', 'paSSword!2026', 'Sunshine#2026', 'Football_2026!', 'Liverpool#2026', 'Midnight#2026'],
  ],
  [
    'passwords.policy.look-alikes',
    'A password must not be a common password in which look-alike characters replace letters, such as @ for a and 0 for o.',
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
    'passwords.policy.triple-repeat',
    'A password must not contain the same character three times in a row.',
    'repeated_characters',
    ['Teal-Lannntern_58', 'Teal---Lantern_58', 'Teal-Lantern_5888', 'Teal-Lantern_58🐟🐟🐟', 'Teal   Lantern_58'],
  ],
  [
    'passwords.policy.letter-sequence',
    'A password must not contain four consecutive letters of the alphabet, ascending or descending, ignoring case.',
    'obvious_sequence',
    sequencesOf('abcdefghijklmnopqrstuvwxyz').map((sequence) => `Teal-Lantern_58-${sequence}`),
  ],
  [
    'passwords.policy.digit-sequence',
    'A password must not contain four consecutive digits, ascending or descending.',
    'obvious_sequence',
    sequencesOf('0123456789').map((sequence) => `Teal-Lantern_${sequence}`),
  ],
  [
    'passwords.policy.keyboard-row-end',
    'A password must not contain the first or the last four keys of a keyboard row in sequence, in either direction, ignoring case.',
    'obvious_sequence',
    ['QweR', 'rewq', 'uiop', 'poiu', 'asdf', 'fdsa', 'hjkl', 'lkjh', 'zxcv', 'vcxz', 'vbnm', 'mnbv'].map(
      (sequence) => `Teal-Lantern_58-${sequence}`,
    ),
  ],
  [
    'passwords.policy.keyboard-row',
    'A password must not contain five adjacent keys of a keyboard row in sequence, in either direction, ignoring case.',
    'obvious_sequence',
    ['sdfgh', 'hgfds', 'wERTY', 'ytrew', 'xcvbn', 'nbvcx'].map((sequence) => `Teal-Lantern_58-${sequence}`),
  ],
];

const ACCEPTED: [id: string, sentence: string, passwords: string[]][] = [
  ['passwords.accepted.not-common', 'TestHarbour!77 is not a common password and is accepted.', ['TestHarbour!77']],
  [
    'passwords.accepted.length',
    'A password of 12 and one of 128 characters (code points) are accepted.',
    ['Teal-Lan_587', `Teal-Lantern_58${'🐟a'.repeat(56)}b`],
  ],
  [
    'passwords.accepted.inside-keyboard-row',
    'Four adjacent keys from the middle of a keyboard row are accepted, such as erty in Liberty.',
    ['Liberty-Lamp_58', 'Teal-Lantern_58-fghj', 'Teal-Lantern_58-bvcx'],
  ],
  [
    'passwords.accepted.short-sequence',
    'Two equal characters in a row, three in different cases, and three keys, letters or digits in sequence are accepted. No sequence continues from z to a, or from 9 to 0.',
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
    'passwords.accepted.special-characters',
    'A special character is any character other than a letter or a digit, such as a space, _ or an emoji.',
    ['Teal Lantern 58', 'Teal_Lantern_58', 'TealLantern58🐟', 'TealLantern58½'],
  ],
  [
    'passwords.accepted.unicode-classes',
    'Lowercase letters, uppercase letters and digits are the Unicode categories Ll, Lu and Nd.',
    ['ßÄÖ-quiet-٣-Ünde', 'ß-ÄÖÜ-ÄÖÜ-ÄÖ٣'],
  ],
];

/** Passwords that contain the username or the local part of the email that are sent with them. */
const CONTAINED_NAMES: [
  id: string,
  sentence: string,
  code: string,
  [changes: Record<string, string>, password: string][],
][] = [
  [
    'passwords.policy.username',
    'A password must not contain the username, however short, ignoring case and Unicode form.',
    'contains_username',
    [
      [{ username: 'Harbour' }, 'Teal_58-hARBOUR'],
      [{ username: 'qz' }, 'Teal-Lantern_58QZ'],
      [{ username: 'seal' }, 'Teal_58-ＳＥＡＬ-Lantern'],
      [{ username: 'é' }, 'Teal-Lantern_58e\u0301'],
    ],
  ],
  [
    'passwords.policy.email-local-part',
    'A password must not contain the local part of the email, however short, ignoring case and Unicode form.',
    'contains_email',
    [
      [{ email: 'seal@example.org' }, 'Teal_58-ＳＥＡＬ-Lantern'],
      [{ email: 'harbour.seal@example.org' }, 'Teal_58-Harbour.Seal'],
      [{ email: 'qz@example.org' }, 'Teal-Lantern_58QZ'],
    ],
  ],
];

/** Fields of a registration, each with a password that contains a permitted part of them. */
const PERMITTED_PARTS: [changes: Record<string, string>, password: string][] = [
  [{ username: 'harbour-seal' }, 'Teal_58-Harbour'],
  [{ email: 'harbour.seal@example.org' }, 'Teal_58-Harbour'],
  [{ email: 'harbour+seal@example.org' }, 'Teal_58-Harbour'],
  [{ email: 'elk@harbour.org' }, 'Teal_58-Harbour'],
  [{ name: 'Harbour' }, 'Teal_58-Harbour'],
];

/** The requests change nothing, and most of them do not count against the strict rate limit. */
export const policyRules: Rule[] = [
  ...REJECTED.map(([id, sentence, code, passwords]) =>
    rule(id, `${sentence} Otherwise the request returns 400 with the code ${code}.`, async (users) => {
      const { send, password: current_password } = await users.sharedUser('ada');
      for (const password of passwords) {
        const response = await send(400, 'PUT /profiles/me', { form: { password, current_password, ...BLANK_NAME } });
        expectProblemCodes(response, `body.password ${code}`, 'body.name blank');
      }
    }),
  ),

  ...ACCEPTED.map(([id, sentence, passwords]) =>
    rule(id, sentence, async (users) => {
      const { send, password: current_password } = await users.sharedUser('ada');
      for (const password of passwords) {
        const form = { password, current_password, ...BLANK_NAME };
        expectProblemCodes(await send(400, 'PUT /profiles/me', { form }), 'body.name blank');
      }
    }),
  ),

  rule(
    'passwords.policy.unchanged-username',
    'A new password must not contain the username, even if the update leaves the username unchanged.',
    async (users) => {
      const { send, username, password: current_password } = await users.sharedUser('ada');
      const form = { password: `Teal_58${username.toUpperCase()}`, current_password, ...BLANK_NAME };
      expectProblems(await send(400, 'PUT /profiles/me', { form }), 'body.password', 'body.name');
    },
  ),

  ...CONTAINED_NAMES.map(([id, sentence, code, cases]) =>
    rule(id, `${sentence} Otherwise the request returns 400 with the code ${code}.`, async (users) => {
      const { send, password: current_password } = await users.sharedUser('ada');
      for (const [changes, password] of cases) {
        const form = { ...changes, password, current_password, ...BLANK_NAME };
        const update = await send(400, 'PUT /profiles/me', { form });
        expectProblemCodes(update, `body.password ${code}`, 'body.name blank');
        const json = { ...users.newUser(), ...changes, password };
        expectProblemCodes(await users.anonymous.send(400, 'POST /auth/register', { json }), `body.password ${code}`);
      }
    }),
  ),

  rule(
    'passwords.accepted.parts-of-names',
    'A password may contain the name, a part of the username or of the local part of the email, and the domain of the email.',
    async (users) => {
      for (const [changes, password] of PERMITTED_PARTS) {
        const json = { ...users.newUser(), ...changes, password, extra: 1 };
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
      expectProblemCodes(
        await users.anonymous.send(400, 'POST /auth/register', { json }),
        ...['too_short', 'needs_uppercase', 'needs_digit', 'needs_special_character', 'repeated_characters'].map(
          (code) => `body.password ${code}`,
        ),
      );
    },
  ),
];
