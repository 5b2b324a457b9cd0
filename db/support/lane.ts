/**
 * A concurrency limiter for expensive work: a FIFO queue with a fixed number of slots and a bounded waiting time. It keeps a
 * few expensive requests from using up the database or the memory for all others. Work is dropped from the queue if its
 * client disconnects, since no one would read the result.
 */

/** The work waited too long for a slot, or its client disconnected. Retrying later is safe. */
export class OverloadedError extends Error {
  readonly code = 'overloaded';

  constructor(message: string) {
    super(message);
    this.name = 'OverloadedError';
  }
}

const CLIENT_DISCONNECTED = 'The client has disconnected';

export interface Lane {
  /**
   * Runs `work` once a slot is free. If `signal` aborts, waiting work is dropped. Running work continues, unless it throws
   * the signal's reason itself.
   *
   * @throws OverloadedError if no slot is free in time, or the signal aborts
   */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

interface Options {
  /** The number of slots. */
  concurrency: number;
  /** How long work may wait for a slot. */
  maxWaitMs: number;
}

export function createLane({ concurrency, maxWaitMs }: Options): Lane {
  const waiting = new Set<() => void>();
  let running = 0;

  async function acquireSlot(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new OverloadedError(CLIENT_DISCONNECTED);
    if (running < concurrency) {
      running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: OverloadedError) => {
        waiting.delete(start);
        clearTimeout(timer);
        signal?.removeEventListener('abort', drop);
        if (error) reject(error);
        else resolve();
      };
      // The slot is handed over: `running` stays the same.
      const start = () => settle();
      const drop = () => settle(new OverloadedError(CLIENT_DISCONNECTED));
      const timer = setTimeout(() => settle(new OverloadedError('Timed out waiting for a free slot')), maxWaitMs);
      signal?.addEventListener('abort', drop);
      waiting.add(start);
    });
  }

  return {
    async run(work, signal) {
      await acquireSlot(signal);
      try {
        return await work();
      } catch (error) {
        if (signal?.aborted && error === signal.reason) throw new OverloadedError(CLIENT_DISCONNECTED);
        throw error;
      } finally {
        const [next] = waiting;
        if (next) next();
        else running -= 1;
      }
    },
  };
}
