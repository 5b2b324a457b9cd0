import { rotateAddresses } from '../addresses.js';
import { type Attack, noErrors } from '../attack.js';
import { statusOf } from '../client.js';

const LOGINS = 120;
const LOGINS_PER_ADDRESS = 20;
const CONCURRENT_LOGINS = 8;
/** The default of ACCOUNT_SESSIONS_MAX. */
const SESSIONS_MAX = 100;

/** More logins of one account than its maximum number of sessions. */
export const sessions: Attack = {
  name: 'sessions',
  title: '120 logins of one account',
  async run(target, { attacker: { email, password } }) {
    const nextAddress = rotateAddresses(5, LOGINS_PER_ADDRESS);
    const login = () =>
      target.send('POST', '/auth/login', { from: nextAddress(), json: { email, password }, signal: target.signal });
    for (let count = 0; count < LOGINS; count += CONCURRENT_LOGINS) {
      await Promise.all(Array.from({ length: CONCURRENT_LOGINS }, () => statusOf(login())));
    }
    const { body: last } = await login();
    target.addSecrets(last.token);
    const { body } = await target.send('GET', '/auth/sessions', { token: last.token });
    return [{ name: 'sessions', value: body.length, atMost: SESSIONS_MAX }];
  },
  evaluate: (measured) => [noErrors(measured)],
};
