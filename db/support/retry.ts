import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailableError } from './errors.js';

/** How long `retryUntilAvailable` repeats an attempt. A store may be unavailable only because it is still starting. */
const RETRY_TIMEOUT_MS = 10_000;

/** The wait before an attempt is repeated. */
export const RETRY_INTERVAL_MS = 500;

/** Repeats an attempt while it fails because a store is unavailable. @throws StoreUnavailableError after 10 seconds */
export async function retryUntilAvailable<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + RETRY_TIMEOUT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() > deadline) throw error;
      await sleep(RETRY_INTERVAL_MS);
    }
  }
}
