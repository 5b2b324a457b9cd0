import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, GUESSED_PASSWORD } from '../attack.js';
import { ATTACKER, statusOf } from '../client.js';
import { latency } from '../measurements.js';
import { currentAccount, logins, readMetrics } from '../observe.js';

const CHECKS = 290;
/** Clients disconnect after their requests have arrived. */
const DISCONNECT_AFTER_MS = 500;
const POLL_INTERVAL_MS = 100;
const DRAIN_MAX_MS = 20_000;
/** The maximum expected waiting time of the service's hash queue. */
const QUEUED_MAX_MS = 2_000;

export const abandonedChecks: Attack = {
  title: '290 profile changes with a password to check, whose clients disconnect',
  honestRequests: ({ honest }) => [logins(honest), currentAccount(honest)],
  async run({ service, attacker, send, signal }) {
    const disconnected = AbortSignal.any([AbortSignal.timeout(DISCONNECT_AFTER_MS), signal]);
    // Every request adds a listener.
    setMaxListeners(0, disconnected);
    const form = { name: 'A', current_password: GUESSED_PASSWORD };
    const options = { localAddress: ATTACKER, token: attacker.token, form, signal: disconnected };
    await Promise.all(Array.from({ length: CHECKS }, () => statusOf(send('PUT', '/profiles/me', options))));
    const began = performance.now();
    while (performance.now() - began < DRAIN_MAX_MS) {
      const waiting = (await readMetrics(service.opsUrl))?.value('password_hashes', { state: 'waiting' });
      // One of them may belong to the honest client.
      if (waiting !== undefined && waiting <= 1) break;
      await sleep(POLL_INTERVAL_MS);
    }
    const emptiedMs = performance.now() - began;
    return [{ name: 'time until the hash queue is empty', value: emptiedMs, atMost: QUEUED_MAX_MS, unit: 'ms' }];
  },
  measurements: (observation) => [latency(observation, 'login', 1, 3_000)],
};
