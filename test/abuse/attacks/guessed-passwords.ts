import { addresses } from '../addresses.js';
import { type Attack, currentAccount, noErrors } from '../attack.js';
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
  async prepare(target) {
    const honest = await target.createAccount();
    const { token, email } = await target.createAccount();
    return {
      honest: [currentAccount(honest.token)],
      async run() {
        const nextAddress = addresses(7, GUESSES_PER_ADDRESS);
        const guess = (index: number) => {
          const [from, password, { signal }] = [nextAddress(), `Guessed-Harbour-${index}!`, target];
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
          { name: 'neither 401 nor 429', value: statuses.filter((s) => s !== 401 && s !== 429).length, atMost: 0 },
        ];
      },
    };
  },
  evaluate: (measured) => [noErrors(measured)],
};
