import { insertDashes } from '../../../support/insert-dashes.js';

/** Has two UTF-16 code units, but limits count it as one character. */
export const EMOJI = '🐟';
/** Characters that JavaScript or Unicode treats as whitespace. */
const WHITE_SPACE = [...'\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'];
const CONTROL = [...'\x07\x1b\x7f\u0080\u009f'];
const FORMAT = [...'\u00ad\u061c\u200b\u200d\u200e\u202e\u2060\u2066\ufeff\ufff9\u{1d173}\u{e0001}'];
const IGNORABLE_OR_BLANK = [
  ...'\u034f\u115f\u1160\u17b4\u180b\u180e\u2065\u2800\u3164\ufe00\ufe0f\uffa0\ufffc\u{e0100}\u{e0fff}',
];
/** Characters of which a text must not consist. */
const INVISIBLE = [...'\x1f\u00ad\u115f\u200b\u202e\u2800\u3164\ufffc\u{e0001}'];
/** Texts that Unicode normalization, trimming, HTML escaping or the normalization of line breaks would change. */
const VERBATIM = [
  '  padded <b>&amp; "quoted" \'it\' \\ %41 +\u00a0',
  `\ufeff\u3000e\u0301 \u212b \ufb01 zero\u200bwidth \u202e${EMOJI} İstanbul ß `,
  '\tone\ntwo\r\nthree\rfour\n',
];

interface Values {
  /** Returns accepted values. If a value must be unique, it contains `unique` or is derived from it. */
  valid: (unique: string) => string[];
  invalid: string[];
}

const textValues = (maximum: number): Values => ({
  valid: () => ['0', 'x'.repeat(maximum), EMOJI.repeat(maximum), ...VERBATIM],
  invalid: [
    '',
    'x'.repeat(maximum + 1),
    EMOJI.repeat(maximum + 1),
    `${'x'.repeat(maximum)} `,
    'a\0b',
    '\0',
    'a\ufffdb',
    ...WHITE_SPACE,
    WHITE_SPACE.join(''),
    ...INVISIBLE,
    INVISIBLE.join(' '),
  ],
});

const domainLabel = (length: number) => 'd'.repeat(length);

/** Returns an email of 254 characters, the maximum. */
export const longestEmail = (localPart: string) =>
  `${localPart.padEnd(64, 'l')}@${domainLabel(63)}.${domainLabel(63)}.${domainLabel(57)}.org`;

const MISPLACED_DOTS = ['.test', 'test.', 'test..x'];
const INVALID_LOCAL_PARTS = [
  '',
  'test@',
  'a@b',
  '"test"',
  'test ',
  'test\u00a0x',
  'test\0',
  'test\ufffd',
  'münchen',
  // Its lower case is an ASCII k.
  'test\u212a',
  ...MISPLACED_DOTS,
];

const TOO_LONG_LABEL = `${domainLabel(64)}.org`;
const INVALID_LABELS = ['example..org', '.example.org', 'example.org.', '-example.org', 'example-.org'];
const INVALID_CHARACTERS = ['exam_ple.org', 'exam ple.org', 'example.org\tx', 'example.org\0', 'münchen.example'];
const NOT_PUBLIC = ['', 'localhost', '127.0.0.1', '[127.0.0.1]'];
const INVALID_DOMAINS = [...INVALID_LABELS, ...INVALID_CHARACTERS, ...NOT_PUBLIC, TOO_LONG_LABEL];

const DISPOSABLE_EMAILS = [
  'test@mailinator.com',
  'TEST@MailInator.COM',
  ' test@yopmail.com ',
  'test@mail.mailinator.com',
];

/** The fields of an account and of a post, with values at and outside every limit. */
export const FIELDS = {
  name: textValues(100),
  title: textValues(200),
  text: textValues(10_000),
  username: {
    valid: (unique) => [
      // One character, derived from the hexadecimal digits in `unique`, so that it is unlikely to be taken.
      String.fromCodePoint(0x20000 + (Number.parseInt(unique.slice(0, 8), 16) % 40_000)),
      unique.padEnd(50, 'u'),
      unique + EMOJI.repeat(50 - unique.length),
      `MiXeD.@${unique}`,
      `<b>&"'\\%41+${unique}`,
      `e\u0301\u00df${unique}`,
    ],
    invalid: [
      '',
      'u'.repeat(51),
      EMOJI.repeat(51),
      'nul\0',
      'user\ufffdname',
      ...[...WHITE_SPACE, ...CONTROL, ...FORMAT, ...IGNORABLE_OR_BLANK].map((character) => `user${character}name`),
      ' user',
      'user ',
      '\u2800',
    ],
  },
  email: {
    valid: (unique) => [
      longestEmail(unique),
      ` ${unique}@example.org\t\n`,
      `A.${unique}.Z@Example.ORG`,
      `o'hara+tag=1/2_x-y!#$%&*?^\`{|}~${unique}@example.org`,
      `${unique}@a-b.c3.co.xn--vermgensberater-ctb`,
      `\u00a0${longestEmail(`m${unique}`)}\u3000`,
    ],
    invalid: [
      '',
      ' ',
      'plain',
      'Test <test@example.org>',
      'test@example.org,b@example.org',
      `${'l'.repeat(64)}@${domainLabel(63)}.${domainLabel(63)}.${domainLabel(58)}.org`,
      ...INVALID_LOCAL_PARTS.map((localPart) => `${localPart}@example.org`),
      ...INVALID_DOMAINS.map((domain) => `test@${domain}`),
      ...DISPOSABLE_EMAILS,
    ],
  },
  password: {
    valid: (unique) => {
      const core = `Quiet.7${insertDashes(unique)}`;
      return [
        padded(`Qu.7${insertDashes(unique)}`, 12, ' z'),
        padded(core, 128, ' z'),
        padded(core, 128, `${EMOJI}z`),
        `  ${core}  `,
        `${core}\t\u00a0`,
        `e\u0301\u212b${core}`,
        'ßÄÖ-quiet-٣-Ünde',
        'TestHarbour!77',
        'Liberty-Lamp_58',
        `Teal Lantern ${EMOJI} 58`,
        'TealHarbour58e\u0301',
      ];
    },
    invalid: [
      '',
      'Teal-Lan_58',
      padded('Teal-Lantern_58', 129, ' z'),
      padded('Teal-Lantern_58', 129, `${EMOJI}z`),
      `${EMOJI}${EMOJI}Aa-1b4`,
      'TEAL-LANTERN_58',
      'teal-lantern_58',
      'Teal-Lantern_xy',
      'TealLantern58xy',
      'Teal-Lantern\0_58',
      'Teal-Lantern\ufffd_58',
      'Password123!',
      'P4ssw0rd!!20!',
      'Teal-Lannntern_58',
      'Teal-   Lantern_58',
      // Sequences of the alphabet, of digits and of a keyboard.
      ...['58-wxyz', '58-DcBa', '4321', '58-QweR', '58-sdfgh', '58-vbnm'].map((ending) => `Teal-Lantern_${ending}`),
    ],
  },
} as const satisfies Record<string, Values>;

export type Field = keyof typeof FIELDS;

/** Returns the text padded or cut to this number of code points. */
export function padded(text: string, length: number, filler: string): string {
  return [...(text + filler.repeat(length))].slice(0, length).join('');
}
