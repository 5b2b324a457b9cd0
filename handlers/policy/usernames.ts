/**
 * What no username may contain beyond the Basic Multilingual Plane: format characters, code points that are ignored by
 * default, and blank letters (Egyptian full and half blank, Khitan filler, musical null notehead).
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;

/** Returns one sentence for each rule that a username breaks and that its pattern in the contract cannot express. */
export function usernameProblems(username: string): string[] {
  // The pattern lists the code points of the BMP alone: not every regex engine knows those beyond it.
  return INVISIBLE.test(username) ? ['The username must not contain invisible characters.'] : [];
}
