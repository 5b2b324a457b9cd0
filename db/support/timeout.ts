import { setTimeout as sleep } from 'node:timers/promises';

export const timedOut = (timeoutMs: number) => new Error(`timed out after ${timeoutMs} ms`);

/** Returns the result of `work`, or rejects after the timeout. Does not cancel the work itself. */
export async function withTimeout<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const cancelTimer = new AbortController();
  const timeout = sleep(timeoutMs, undefined, { signal: cancelTimer.signal }).then(() => {
    throw timedOut(timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => cancelTimer.abort());
}
