/** Inserts a dash before each pair of digits: the password policy then finds no sequences or repetitions in random digits. */
export const insertDashes = (digits: string) => digits.replace(/../g, '-$&');
