import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from './log.js';
import { type StoreName, StoreUnavailable } from './unavailable.js';

/** How long a store that is suspected may take to answer the least question before it counts as away, in milliseconds. */
const DOUBT = 600;

/** How long to wait before a store that is away is asked again, in milliseconds. */
const PAUSE = 250;

export interface Guard {
  /** Whether the store is known not to answer. Every call fails at once until it does again. */
  readonly away: boolean;
  /**
   * Makes a call to the store within its deadline. `signal` aborts when nobody waits for the answer any more: then the call
   * has to let go of its connection.
   *
   * @throws StoreUnavailable when the store does not answer, or answers that it cannot serve
   */
  run<Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  close(): void;
}

interface Options {
  store: StoreName;
  /** The deadline of one call, in milliseconds. */
  timeout: number;
  /** Asks the store the least that it can be asked, on a connection of its own. */
  probe(signal: AbortSignal): Promise<unknown>;
  /** Whether an error means that the store cannot serve, rather than that the question was wrong. */
  isUnavailable(error: unknown): boolean;
  /** Called when the store is found to be away: connections that have gone silent can be thrown away. */
  onAway?(): void;
  log: Log;
}

/**
 * Watches over the calls to one store. A call that fails for want of the store raises a doubt, and the doubt is settled by a
 * probe or by any other call's answer: a slow statement is no silent store. Found to be away, the store is left alone, what
 * was under way is given up, and a probe looks for its return.
 */
export function createGuard({ store, timeout, probe, isUnavailable, onAway, log }: Options): Guard {
  const underWay = new Set<AbortController>();
  const closed = new AbortController();
  let doubted = false;
  let answered = false;
  let away = false;

  /** Fails when the signal aborts, whatever becomes of the call. */
  async function within<Result>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      call(signal).then(resolve, reject);
    });
  }

  const answers = () =>
    within(AbortSignal.timeout(DOUBT), probe).then(
      () => true,
      () => false,
    );

  async function settle(cause: unknown): Promise<void> {
    doubted = true;
    answered = false;
    if (!(await answers()) && !answered && !closed.signal.aborted) {
      away = true;
      log.warn({ err: cause, store }, 'a store does not answer');
      for (const call of underWay) call.abort(new StoreUnavailable(store, { cause }));
      onAway?.();
      while (!(await answers())) {
        await sleep(PAUSE, undefined, { signal: closed.signal }).catch(() => undefined);
        if (closed.signal.aborted) return;
      }
      away = false;
      log.info({ store }, 'a store answers again');
    }
    doubted = false;
  }

  return {
    get away() {
      return away;
    },

    async run(call) {
      if (away) throw new StoreUnavailable(store);
      const controller = new AbortController();
      // A turn later: should this process have been kept from running, the answer may lie there already.
      const giveUp = () => setImmediate(() => controller.abort(new StoreUnavailable(store)));
      const timer = setTimeout(giveUp, timeout);
      underWay.add(controller);
      try {
        const result = await within(controller.signal, call);
        answered = true;
        return result;
      } catch (error) {
        const gaveUp = error instanceof StoreUnavailable;
        if (!gaveUp && !isUnavailable(error)) {
          answered = true;
          throw error;
        }
        if (!doubted) void settle(error);
        throw gaveUp ? error : new StoreUnavailable(store, { cause: error });
      } finally {
        clearTimeout(timer);
        underWay.delete(controller);
      }
    },

    close() {
      closed.abort();
    },
  };
}
