import type { FieldCode } from '../error-codes.js';

const WHITE_SPACE = /\p{White_Space}/gu;

/**
 * Invisible characters other than white space: control characters, format characters, default-ignorable code points, and blank
 * characters that have none of these properties (Braille blank, object replacement character, Egyptian full and half blank,
 * Khitan filler, musical null notehead).
 */
const INVISIBLE = String.raw`\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}`;
const AN_INVISIBLE = new RegExp(`[${INVISIBLE}]`, 'u');
const A_VISIBLE = new RegExp(`[^\\p{White_Space}${INVISIBLE}]`, 'u');

/** Returns whether no character of a text is visible. */
export const isInvisible = (text: string): boolean => !A_VISIBLE.test(text);

/**
 * Returns the codes of the character rules that a username breaks. Covers all of Unicode; the pattern of the schema covers only
 * Latin-1.
 */
export function usernameProblems(username: string): FieldCode[] {
  const visible = username.replace(WHITE_SPACE, '');
  return [
    ...(visible === username ? [] : (['whitespace'] as const)),
    ...(AN_INVISIBLE.test(visible) ? (['invisible_characters'] as const) : []),
  ];
}
