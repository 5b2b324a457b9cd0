import { ClientDisconnectedError, OverloadedError } from './errors.js';

/*
 * Concurrency limiter for expensive work. It has a fixed number of slots and a first-in, first-out queue with a maximum waiting
 * time. It keeps a few expensive requests from using all the capacity of the database or all memory. Work is removed from the
 * queue when its client disconnects, because no one would read the result.
 */

export interface ConcurrencyLimiter {
  /**
   * Runs `work` when a slot is free. If `signal` aborts, waiting work is removed from the queue. Running work continues,
   * unless it checks the signal itself and throws its reason.
   *
   * @throws OverloadedError if no slot is free within the waiting time
   * @throws ClientDisconnectedError if the signal aborts before the work starts, or if the running work throws its reason
   */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** How much work is waiting for a slot. */
  readonly waiting: number;
}

interface Options {
  /** The number of slots: how much work may run at the same time. */
  concurrency: number;
  /** How long work may wait for a slot. */
  maxWaitMs: number;
}

export function createConcurrencyLimiter({ concurrency, maxWaitMs }: Options): ConcurrencyLimiter {
  const waiting = new Set<() => void>();
  let running = 0;

  async function acquireSlot(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new ClientDisconnectedError();
    if (running < concurrency) {
      running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leaveQueue = (error?: Error) => {
        waiting.delete(start);
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        if (error) reject(error);
        else resolve();
      };
      // The slot passes from the previous work to this one, so `running` stays the same.
      const start = () => leaveQueue();
      const cancel = () => leaveQueue(new ClientDisconnectedError());
      const timer = setTimeout(() => leaveQueue(new OverloadedError()), maxWaitMs);
      signal?.addEventListener('abort', cancel);
      waiting.add(start);
    });
  }

  return {
    get waiting() {
      return waiting.size;
    },

    async run(work, signal) {
      await acquireSlot(signal);
      try {
        return await work();
      } catch (error) {
        if (signal?.aborted && error === signal.reason) throw new ClientDisconnectedError();
        throw error;
      } finally {
        const [next] = waiting;
        if (next) next();
        else running -= 1;
      }
    },
  };
}
