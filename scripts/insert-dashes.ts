/** Inserts a dash before each pair of digits, so that the password policy finds no sequences or repetitions in random digits. */
export const insertDashes = (digits: string) => digits.replace(/../g, '-$&');
