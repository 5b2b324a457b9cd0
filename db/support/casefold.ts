/**
 * Returns a text under NFKC case folding (toNFKC_Casefold in section 3.13 of the Unicode Standard). Two texts that differ only
 * in case or Unicode form become equal.
 *
 * JavaScript has no case folding. Converting to lower case and then to upper case has the same effect (it unifies ß, ẞ and ss,
 * or σ and ς), but it would also unify ı and i, because both become I. Each ı is therefore kept unchanged.
 */
export const nfkcCasefold = (text: string): string =>
  text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    .split('ı')
    .map((part) => part.toUpperCase())
    .join('ı')
    .normalize('NFKC');
