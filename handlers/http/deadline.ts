import { setTimeout as sleep } from 'node:timers/promises';

/** Answers what `work` does, or rejects when that takes longer than so many milliseconds. The work itself goes on. */
export async function withDeadline<Result>(milliseconds: number, work: Promise<Result>): Promise<Result> {
  const done = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: done.signal }).then(() => {
    throw new Error(`no answer within ${milliseconds} ms`);
  });
  return Promise.race([work, late]).finally(() => done.abort());
}
