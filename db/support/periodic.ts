import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs a job immediately, and then again each time the interval has passed since its end.
 *
 * @param job must not throw. Its signal aborts when the runs are stopped.
 */
export function startPeriodic(
  intervalMs: number,
  job: (signal: AbortSignal) => Promise<void>,
): { stop(): Promise<void> } {
  const stopped = new AbortController();

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await job(stopped.signal);
      await sleep(intervalMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    /** Stops after the run in progress. */
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
