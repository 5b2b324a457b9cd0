import { setTimeout as sleep } from 'node:timers/promises';

/** Returns the result of `work`, or rejects after the deadline. The work itself is not canceled. */
export async function withDeadline<Result>(deadlineMs: number, work: Promise<Result>): Promise<Result> {
  const done = new AbortController();
  const late = sleep(deadlineMs, undefined, { signal: done.signal }).then(() => {
    throw new Error(`timed out after ${deadlineMs} ms`);
  });
  return Promise.race([work, late]).finally(() => done.abort());
}
