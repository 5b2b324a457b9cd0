import { rotateAddresses } from '../addresses.js';
import { type Attack, noErrors, otherStatuses } from '../attack.js';
import { statusOf } from '../client.js';

const GUESSES = 150;
const GUESSES_PER_ADDRESS = 15;
const CONCURRENT_GUESSES = 5;
/** The default of ACCOUNT_FAILED_PASSWORDS_MAX. */
const FAILED_PASSWORDS_MAX = 100;

/** Guesses at one account's password: by profile changes with a stolen session, and by logins from many addresses. */
export const guessedPasswords: Attack = {
  name: 'guessed-passwords',
  title: "150 guesses at one account's password, half of them with its stolen session",
  async run(target, { attacker: { token, email } }) {
    const nextAddress = rotateAddresses(7, GUESSES_PER_ADDRESS);
    const guess = (index: number) => {
      const from = nextAddress();
      const password = `Guessed-Harbour-${index}!`;
      const { signal } = target;
      return index % 2 === 0
        ? target.send('POST', '/auth/login', { from, json: { email, password }, signal })
        : target.send('PUT', '/profiles/me', {
            from,
            token,
            form: { name: 'A', current_password: password },
            signal,
          });
    };
    const statuses: number[] = [];
    for (let first = 0; first < GUESSES; first += CONCURRENT_GUESSES) {
      const batch = Array.from({ length: CONCURRENT_GUESSES }, (_, index) => statusOf(guess(first + index)));
      statuses.push(...(await Promise.all(batch)));
    }
    return [
      {
        name: 'guesses checked',
        value: statuses.filter((status) => status === 401).length,
        atMost: FAILED_PASSWORDS_MAX,
      },
      otherStatuses(statuses, 401, 429),
    ];
  },
  evaluate: (measured) => [noErrors(measured)],
};
