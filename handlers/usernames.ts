/** What a username's pattern in the contract cannot hold against it, one sentence per broken rule. */
export function usernameProblems(username: string): string[] {
  // The pattern lists the format characters of the BMP alone: not every regex engine knows code points beyond it.
  return /\p{Cf}/u.test(username) ? ['The username must not contain invisible format characters.'] : [];
}
