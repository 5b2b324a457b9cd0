import { type Attack, GUESSED_PASSWORD } from '../attack.js';
import { rotateAddresses, statusOf } from '../client.js';
import { latency, otherStatuses } from '../measurements.js';
import { currentAccount, logins } from '../observe.js';

const LOGINS = 1_000;
const LOGINS_PER_ADDRESS = 20;

/** All logins that the rate limits of 50 addresses allow, at the same time. */
export const loginFlood: Attack = {
  title: '1,000 concurrent logins from 50 addresses',
  honestRequests: ({ honest }) => [logins(honest), currentAccount(honest)],
  async run({ send, signal }) {
    const nextAddress = rotateAddresses(4, LOGINS_PER_ADDRESS);
    const statuses = await Promise.all(
      Array.from({ length: LOGINS }, (_, index) => {
        const json = { email: `nobody${index}@people.example`, password: GUESSED_PASSWORD };
        return statusOf(send('POST', '/auth/login', { localAddress: nextAddress(), json, signal }));
      }),
    );
    return [otherStatuses(statuses, 401, 503)];
  },
  // Accepting 1,000 new connections takes time before any limit applies.
  measurements: (observation) => [latency(observation, 'login', 1, 3_000), latency(observation, 'me', 0.99, 3_000)],
};
