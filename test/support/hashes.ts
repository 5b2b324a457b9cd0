import { setImmediate } from 'node:timers/promises';
import { hashQueue } from '../../handlers/security/password-hashing.js';

/** Awaits the result of some work. Also returns the maximum number of password hashes that were computed at the same time. */
export async function watchHashes<Result>(work: Promise<Result>): Promise<{ result: Result; maxRunning: number }> {
  let maxRunning = 0;
  let isSettled = false;
  const settled = work.finally(() => {
    isSettled = true;
  });
  while (!isSettled) {
    maxRunning = Math.max(maxRunning, hashQueue.usage.running);
    await setImmediate();
  }
  return { result: await settled, maxRunning };
}
