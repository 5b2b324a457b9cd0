import { setTimeout as sleep } from 'node:timers/promises';
import { type StoreName, StoreUnavailableError } from './errors.js';
import type { Log } from './log.js';

/** How long a store that is suspected may take to answer the least question before it counts as away, in milliseconds. */
const PROBE_TIMEOUT_MS = 600;

/** How long to wait before a store that is away is asked again, in milliseconds. */
const PROBE_INTERVAL_MS = 250;

/** How long a warm-up may take. After that the store is used as it is. */
const WARM_UP_TIMEOUT_MS = 120_000;

export interface CircuitBreaker {
  /** Whether the store is known not to answer. Every call fails at once until it does again. */
  readonly isOpen: boolean;
  /**
   * Makes a call to the store within its deadline. A call that is given up has to let go of its connection.
   *
   * @throws StoreUnavailable when the store does not answer, or answers that it cannot serve
   */
  run<Result>(call: (attempt: Attempt) => Promise<Result>): Promise<Result>;
  /** Gives up the calls in progress: a silent store would keep the process from ending. */
  close(): void;
}

/** One call to a store, in progress or given up. */
export class Attempt {
  #reject: ((cause: StoreUnavailableError) => void) | undefined;
  #controller: AbortController | undefined;
  #cause: StoreUnavailableError | undefined;

  get isGivenUp(): boolean {
    return this.#cause !== undefined;
  }

  /** Aborts when the call is given up. Created on demand: a signal costs more than all else here, and few calls need it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cause) this.#controller.abort(this.#cause);
    }
    return this.#controller.signal;
  }

  giveUp(cause: StoreUnavailableError): void {
    if (this.#cause) return;
    this.#cause = cause;
    this.#reject?.(cause);
    this.#controller?.abort(cause);
  }

  /** Starts the call, and settles as it does or when it is given up. */
  outcome<Result>(call: (attempt: Attempt) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      call(this).then(resolve, reject);
    });
  }
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
  onOpen?(): void;
  /** Prepares a store that has returned for its first calls, which would be slow otherwise. Until then it counts as away. */
  warmUp?(): Promise<unknown>;
  log: Log;
}

/**
 * Watches over the calls to one store. A call that fails for want of the store raises a doubt, and the doubt is settled by a
 * probe or by any other call's answer: a slow statement is no silent store. Found to be away, the store is left alone, what
 * was under way is given up, and a probe looks for its return.
 */
export function createCircuitBreaker({
  store,
  timeout,
  probe,
  isUnavailable,
  onOpen,
  warmUp,
  log,
}: Options): CircuitBreaker {
  const underWay = new Set<Attempt>();
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
    within(AbortSignal.timeout(PROBE_TIMEOUT_MS), probe).then(
      () => true,
      () => false,
    );

  /** An error that is not the store's, and a warm-up that takes too long, are for the calls to find. */
  const isWarm = async () =>
    (await answers()) &&
    (!warmUp ||
      within(AbortSignal.timeout(WARM_UP_TIMEOUT_MS), warmUp).then(
        () => true,
        (error) => !(error instanceof StoreUnavailableError),
      ));

  async function settle(cause: unknown): Promise<void> {
    doubted = true;
    answered = false;
    if (!(await answers()) && !answered && !closed.signal.aborted) {
      away = true;
      log.warn({ err: cause, store }, 'a store does not answer');
      for (const attempt of underWay) attempt.giveUp(new StoreUnavailableError(store, { cause }));
      onOpen?.();
      while (!(await isWarm())) {
        await sleep(PROBE_INTERVAL_MS, undefined, { signal: closed.signal }).catch(() => undefined);
        if (closed.signal.aborted) return;
      }
      away = false;
      log.info({ store }, 'a store answers again');
    }
    doubted = false;
  }

  return {
    get isOpen() {
      return away;
    },

    async run(call) {
      if (away) throw new StoreUnavailableError(store);
      const attempt = new Attempt();
      // A turn later: should this process have been kept from running, the answer may lie there already.
      const giveUp = () => setImmediate(() => attempt.giveUp(new StoreUnavailableError(store)));
      const timer = setTimeout(giveUp, timeout);
      underWay.add(attempt);
      try {
        const result = await attempt.outcome(call);
        answered = true;
        return result;
      } catch (error) {
        const gaveUp = error instanceof StoreUnavailableError;
        if (!gaveUp && !isUnavailable(error)) {
          answered = true;
          throw error;
        }
        if (!doubted && !closed.signal.aborted) void settle(error);
        throw gaveUp ? error : new StoreUnavailableError(store, { cause: error });
      } finally {
        clearTimeout(timer);
        underWay.delete(attempt);
      }
    },

    close() {
      closed.abort();
      for (const attempt of underWay) attempt.giveUp(new StoreUnavailableError(store));
    },
  };
}
