/** Digits in pairs, before each a dash: chance makes no sequence and no repeat of them, for which a password is refused. */
export const inPairs = (digits: string) => digits.replace(/../g, '-$&');
