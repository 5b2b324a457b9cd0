import { setTimeout as sleep } from 'node:timers/promises';
import { ATTACKER } from '../addresses.js';
import { type Attack, currentAccount, logins, max, noErrors } from '../attack.js';
import { statusOf } from '../client.js';
import { readMetrics } from '../observe.js';

const CHECKS = 290;
/** Clients disconnect after their requests have arrived. */
const DISCONNECT_AFTER_MS = 500;
const POLL_INTERVAL_MS = 100;
const DRAIN_MAX_MS = 20_000;
/** The maximum expected waiting time of the service's hash queue. */
const QUEUED_MAX_MS = 2_000;

/** Password checks for clients that have disconnected. */
export const abandonedChecks: Attack = {
  name: 'abandoned-checks',
  title: '290 profile changes with a password to check, whose clients disconnect',
  async prepare(target, { honest, attacker }) {
    return {
      honestRequests: [logins(honest), currentAccount(honest.token)],
      async run() {
        const disconnected = AbortSignal.any([AbortSignal.timeout(DISCONNECT_AFTER_MS), target.signal]);
        const form = { name: 'A', current_password: 'Guessed-Harbour-27!' };
        const change = () =>
          statusOf(
            target.send('PUT', '/profiles/me', { from: ATTACKER, token: attacker.token, form, signal: disconnected }),
          );
        await Promise.all(Array.from({ length: CHECKS }, change));
        const began = performance.now();
        while (performance.now() - began < DRAIN_MAX_MS) {
          const waiting = (await readMetrics(target.service.opsUrl))?.value('password_hashes', { state: 'waiting' });
          // One of them may belong to the honest client.
          if (waiting !== undefined && waiting <= 1) break;
          await sleep(POLL_INTERVAL_MS);
        }
        return [{ name: 'queue emptied', value: performance.now() - began, atMost: QUEUED_MAX_MS, unit: 'ms' }];
      },
    };
  },
  evaluate: (measured) => [max(measured, 3_000), noErrors(measured)],
};
