/**
 * Invisible characters other than white space: control characters, format characters, default-ignorable code points, and blank
 * characters that have none of these properties (Braille blank, object replacement character, Egyptian full and half blank,
 * Khitan filler, musical null notehead).
 */
const INVISIBLE = String.raw`\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}`;
export const AN_INVISIBLE = new RegExp(`[${INVISIBLE}]`, 'u');
const A_VISIBLE = new RegExp(`[^\\p{White_Space}${INVISIBLE}]`, 'u');

/** Returns whether no character of a text is visible. */
export const isInvisible = (text: string): boolean => !A_VISIBLE.test(text);
