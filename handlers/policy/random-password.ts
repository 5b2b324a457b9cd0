import { randomInt } from 'node:crypto';
import { type AccountNames, passwordProblems } from './passwords.js';

/** Without characters that look alike. */
const CHARACTERS = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** A username may consist of one of these, which the password must then not contain. */
const SEPARATORS = '-_.+';

const GROUPS = 4;
const GROUP_LENGTH = 5;

/** At least one in ten is accepted, even if the username and the local part of the email address are one letter each. */
const MAX_ATTEMPTS = 1000;

/**
 * Returns a random password that the policy accepts, of 115 bits, such as `vT3kw-Rb9sE-uXm4d-Hq7pz`.
 *
 * @param account valid names: they are folded for each attempt
 */
export function randomPassword(account: AccountNames = {}): string {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const separator = randomCharacter(SEPARATORS);
    const password = Array.from({ length: GROUPS }, randomGroup).join(separator);
    if (passwordProblems(password, account).length === 0) return password;
  }
  throw new Error('No random password meets the policy');
}

const randomGroup = () => Array.from({ length: GROUP_LENGTH }, () => randomCharacter(CHARACTERS)).join('');

const randomCharacter = (characters: string) => characters.charAt(randomInt(characters.length));
