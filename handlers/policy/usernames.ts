/**
 * Invisible characters: format characters, default-ignorable code points, and the blank letters beyond the Basic
 * Multilingual Plane, BMP (Egyptian full and half blank, Khitan filler, musical null notehead).
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;

/** Returns one sentence for each rule that a username breaks. Checks only rules that the schema's pattern does not. */
export function usernameProblems(username: string): string[] {
  // The pattern covers only the BMP, because not every regex engine supports code points beyond it.
  return INVISIBLE.test(username) ? ['The username must not contain invisible characters.'] : [];
}
