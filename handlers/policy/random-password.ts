import { randomInt } from 'node:crypto';
import { type AccountNames, passwordProblems } from './passwords.js';

/** Without characters that look alike. */
const CHARACTERS = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** A username may consist of one of these, which the password must then not contain. */
const SEPARATORS = '-_.+';

const GROUPS = 4;
const GROUP_LENGTH = 5;

/** Returns a random password that the policy accepts, of 115 bits, such as `vT3kw-Rb9sE-uXm4d-Hq7pz`. */
export function randomPassword(account: AccountNames = {}): string {
  for (;;) {
    const separator = randomCharacter(SEPARATORS);
    const password = Array.from({ length: GROUPS }, randomGroup).join(separator);
    if (passwordProblems(password, account).length === 0) return password;
  }
}

const randomGroup = () => Array.from({ length: GROUP_LENGTH }, () => randomCharacter(CHARACTERS)).join('');

const randomCharacter = (characters: string) => characters.charAt(randomInt(characters.length));
