import { ATTACKER } from '../addresses.js';
import { type Attack, loopDelay, noErrors, otherStatuses } from '../attack.js';
import { statusOf } from '../client.js';

/** Almost 64 KB of combining marks in the worst order for Unicode normalization, which sorts them. */
const SLOW_TEXT = `a${'\u0301'.repeat(16_000)}${'\u0316'.repeat(16_000 - 300)}`;

const REGISTRATIONS = 12;
const PROFILE_CHANGES = 12;

/** Texts far beyond their maximum length, whose normalization takes quadratic time. */
export const slowTexts: Attack = {
  name: 'slow-texts',
  title: '24 requests with texts of 64 KB that are slow to normalize, as passwords and usernames',
  async run(target, { attacker }) {
    const register = () =>
      target.send('POST', '/auth/register', {
        from: ATTACKER,
        signal: target.signal,
        json: { name: 'A', username: 'a', email: 'a@people.example', password: SLOW_TEXT },
      });
    const change = () =>
      target.send('PUT', '/profiles/me', {
        from: ATTACKER,
        signal: target.signal,
        token: attacker.token,
        form: { username: SLOW_TEXT, password: SLOW_TEXT, current_password: 'x' },
      });
    const statuses = await Promise.all([
      ...Array.from({ length: REGISTRATIONS }, () => statusOf(register())),
      ...Array.from({ length: PROFILE_CHANGES }, () => statusOf(change())),
    ]);
    return [otherStatuses(statuses, 400, 413)];
  },
  evaluate: (measured) => [loopDelay(measured, 100), noErrors(measured)],
};
