import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailableError } from '../../db/support/errors.js';

/** Longer than any wait in the tests takes, even on a busy machine. */
const MAX_WAIT_MS = 240_000;

/** Waits until a condition holds. @throws Error with the source of the condition, after `MAX_WAIT_MS` */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`Timed out after ${MAX_WAIT_MS / 1000} s waiting for ${condition}`);
    await sleep(10);
  }
}

/**
 * Repeats a call of a store while the store is unavailable, and returns the result. Throws any other error, or that of the
 * store after `MAX_WAIT_MS`.
 */
export async function retryWhileUnavailable<Result>(call: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() > deadline) throw error;
      await sleep(10);
    }
  }
}
