import { setTimeout as sleep } from 'node:timers/promises';
import { type StoreName, StoreUnavailableError } from './errors.js';
import type { Log } from './log.js';

/**
 * Circuit breaker: fails calls to an unavailable store immediately, instead of letting each wait for its timeout.
 *
 * Closed: every call runs within a timeout. A call that times out, or fails because of the store, triggers a probe: a minimal
 * request on a separate connection, since a slow statement does not mean that the store is unavailable. If the probe or any
 * other call gets a response, the breaker stays closed.
 * Open: otherwise, calls in progress are given up, and new ones fail.
 * Half-open: while the breaker is open, the probe is repeated. When it succeeds, the store is warmed up, and the breaker
 * closes. No calls run before that.
 */

/** Short: a probe is a minimal request. */
const PROBE_TIMEOUT_MS = 600;

const PROBE_INTERVAL_MS = 250;

/** After this time the breaker closes without waiting for the warm-up. */
const WARM_UP_TIMEOUT_MS = 120_000;

export interface CircuitBreaker {
  /** Whether the store is unavailable, so that every call fails immediately. */
  readonly isOpen: boolean;
  /**
   * Makes a call to the store within the timeout. A call that is given up has to release its connection.
   *
   * @throws StoreUnavailableError if the breaker is open, or the store does not respond or responds that it is unavailable
   */
  run<Result>(call: (attempt: Attempt) => Promise<Result>): Promise<Result>;
  /** Gives up the calls in progress: an unresponsive store must not delay the shutdown. */
  close(): void;
}

/** One call to a store. It can be given up while it is in progress. */
export class Attempt {
  #reject: ((cause: StoreUnavailableError) => void) | undefined;
  #controller: AbortController | undefined;
  #cause: StoreUnavailableError | undefined;

  get isGivenUp(): boolean {
    return this.#cause !== undefined;
  }

  /** Aborts when the call is given up. Created on demand, since a signal is expensive and few calls need it. */
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

  /** Starts the call. Settles when the call settles, or rejects when it is given up. */
  start<Result>(call: (attempt: Attempt) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      call(this).then(resolve, reject);
    });
  }
}

interface Options {
  store: StoreName;
  /** The timeout of one call. */
  timeoutMs: number;
  /** Makes a minimal request to the store, on a separate connection. */
  probe(signal: AbortSignal): Promise<unknown>;
  /** Whether an error means that the store is unavailable, rather than that the request was invalid. */
  isUnavailable(error: unknown): boolean;
  /** Called when the breaker opens. Can discard unresponsive connections. */
  onOpen?(): void;
  /** Prepares a store that is available again, so that its first calls are not slow. Runs before the breaker closes. */
  warmUp?(): Promise<unknown>;
  log: Log;
}

export function createCircuitBreaker({
  store,
  timeoutMs,
  probe,
  isUnavailable,
  onOpen,
  warmUp,
  log,
}: Options): CircuitBreaker {
  const inProgress = new Set<Attempt>();
  const shutdown = new AbortController();
  let isProbing = false;
  let hasResponded = false;
  let isOpen = false;

  /** Makes a call. Rejects when the signal aborts, even if the call ignores the signal. */
  async function within<Result>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      call(signal).then(resolve, reject);
    });
  }

  const probeSucceeds = () =>
    within(AbortSignal.timeout(PROBE_TIMEOUT_MS), probe).then(
      () => true,
      () => false,
    );

  /** Returns whether the breaker may close. Of failed warm-ups, only one that finds the store unavailable prevents that. */
  const isReady = async () =>
    (await probeSucceeds()) &&
    (!warmUp ||
      within(AbortSignal.timeout(WARM_UP_TIMEOUT_MS), warmUp).then(
        () => true,
        (error) => !(error instanceof StoreUnavailableError),
      ));

  /** Probes the store after a failed call. If it is unavailable, opens the breaker until it is available again. */
  async function probeAfterFailure(cause: unknown): Promise<void> {
    isProbing = true;
    hasResponded = false;
    if (!(await probeSucceeds()) && !hasResponded && !shutdown.signal.aborted) {
      isOpen = true;
      log.warn({ err: cause, store }, 'store unavailable: circuit breaker open');
      for (const attempt of inProgress) attempt.giveUp(new StoreUnavailableError(store, { cause }));
      onOpen?.();
      while (!(await isReady())) {
        await sleep(PROBE_INTERVAL_MS, undefined, { signal: shutdown.signal }).catch(() => undefined);
        if (shutdown.signal.aborted) return;
      }
      isOpen = false;
      log.info({ store }, 'store available: circuit breaker closed');
    }
    isProbing = false;
  }

  return {
    get isOpen() {
      return isOpen;
    },

    async run(call) {
      if (isOpen) throw new StoreUnavailableError(store);
      const attempt = new Attempt();
      // One event loop iteration later: if this process was stalled, the response may have arrived already.
      const giveUp = () => setImmediate(() => attempt.giveUp(new StoreUnavailableError(store)));
      const timer = setTimeout(giveUp, timeoutMs);
      inProgress.add(attempt);
      try {
        const result = await attempt.start(call);
        hasResponded = true;
        return result;
      } catch (error) {
        const wasGivenUp = error instanceof StoreUnavailableError;
        if (!wasGivenUp && !isUnavailable(error)) {
          hasResponded = true;
          throw error;
        }
        if (!isProbing && !shutdown.signal.aborted) void probeAfterFailure(error);
        throw wasGivenUp ? error : new StoreUnavailableError(store, { cause: error });
      } finally {
        clearTimeout(timer);
        inProgress.delete(attempt);
      }
    },

    close() {
      shutdown.abort();
      for (const attempt of inProgress) attempt.giveUp(new StoreUnavailableError(store));
    },
  };
}
