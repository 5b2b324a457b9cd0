import { rotateAddresses } from '../addresses.js';
import {
  type Attack,
  countStatus,
  currentAccount,
  logins,
  max,
  noErrors,
  otherStatuses,
  percentileOf,
} from '../attack.js';
import { statusOf } from '../client.js';

const LOGINS = 1_000;
const LOGINS_PER_ADDRESS = 20;

/** All logins that the rate limits of 50 addresses allow, at the same time. */
export const loginFlood: Attack = {
  name: 'login-flood',
  title: '1,000 concurrent logins from 50 addresses',
  async prepare(target, { honest }) {
    return {
      honestRequests: [logins(honest), currentAccount(honest.token)],
      async run() {
        const nextAddress = rotateAddresses(4, LOGINS_PER_ADDRESS);
        const statuses = await Promise.all(
          Array.from({ length: LOGINS }, (_, index) => {
            const json = { email: `nobody${index}@people.example`, password: 'Guessed-Harbour-27!' };
            return statusOf(target.send('POST', '/auth/login', { from: nextAddress(), json, signal: target.signal }));
          }),
        );
        return [otherStatuses(statuses, 401, 503), countStatus(statuses, 503)];
      },
    };
  },
  evaluate: (measured) => [
    max(measured, 3_000),
    // Accepting 1,000 new connections takes time before any limit applies.
    percentileOf(measured, 'me', 0.99, 3_000),
    noErrors(measured),
  ],
};
