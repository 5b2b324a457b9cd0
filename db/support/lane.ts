/** There is more work than a lane takes. Trying again later is safe. */
export class OverloadedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OverloadedError';
  }
}

export interface Lane {
  /**
   * Runs `work` when its turn comes. Work that waits is dropped when `signal` aborts; work that has started goes on, unless
   * it looks at the signal itself and throws its reason.
   *
   * @throws OverloadedError when the turn does not come in time, or the signal aborts
   */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

interface Options {
  /** How many jobs run at the same time. */
  width: number;
  /** How long work waits for its turn, in milliseconds. */
  maxWaitMs: number;
}

/** Creates a queue, first come, first served, for work that is too expensive to run all at the same time. */
export function createLane({ width, maxWaitMs }: Options): Lane {
  const waiting = new Set<() => void>();
  let running = 0;

  async function takeTurn(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new OverloadedError('The client has left');
    if (running < width) {
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
      // The turn is passed on: the work that ends and the work that starts are never both counted.
      const start = () => settle();
      const drop = () => settle(new OverloadedError('The client has left'));
      const timer = setTimeout(() => settle(new OverloadedError('Too much work is waiting')), maxWaitMs);
      signal?.addEventListener('abort', drop);
      waiting.add(start);
    });
  }

  return {
    async run(work, signal) {
      await takeTurn(signal);
      try {
        return await work();
      } catch (error) {
        if (signal?.aborted && error === signal.reason) throw new OverloadedError('The client has left');
        throw error;
      } finally {
        const [next] = waiting;
        if (next) next();
        else running -= 1;
      }
    },
  };
}
