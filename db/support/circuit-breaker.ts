import { setTimeout as sleep } from 'node:timers/promises';
import { firstErrorOf, type StoreName, StoreUnavailableError } from './errors.js';
import type { Log } from './log.js';
import { timedOut } from './timeout.js';

/*
 * Circuit breaker: makes calls to an unavailable store fail immediately, instead of letting each wait for its timeout.
 * Used for Neo4j and S3. For PostgreSQL and Redis, the time limits of their clients are enough.
 *
 * Closed: every call runs within a timeout. If a call times out, or fails because of the store, the store is probed with a
 * minimal request. The probe is needed because a slow statement does not mean that the store is unavailable. If the probe or
 * any other call gets a response, the breaker stays closed. Otherwise it opens.
 *
 * Open: calls in progress are abandoned, and new calls fail immediately. The probe is repeated. Its timeout is now that of a
 * call, but at least `PROBE_TIMEOUT_MS` and at most `MAX_PROBE_TIMEOUT_MS`: on a slow network, the round trips that open its
 * connection may exceed `PROBE_TIMEOUT_MS`.
 *
 * Half-open: a probe has succeeded, and the store is being warmed up. Calls still fail. Then the breaker closes.
 */

/** The timeout of the probe after a failed call. It is short, so that an unavailable store is detected quickly. */
const PROBE_TIMEOUT_MS = 600;

/** The maximum timeout of later probes. A probe whose connection hangs must not delay the recovery for long. */
export const MAX_PROBE_TIMEOUT_MS = 5000;

const PROBE_INTERVAL_MS = 250;

/** The maximum time that the breaker waits for the warm-up before it closes. */
const WARM_UP_TIMEOUT_MS = 120_000;

interface CircuitBreaker {
  /** Whether the store is unavailable, so that every call fails immediately. */
  readonly isOpen: boolean;
  /**
   * Makes a call to the store within the timeout. The signal aborts when the call is abandoned: when it times out, when the
   * breaker opens, or at shutdown. The call must then release its connection.
   *
   * @throws StoreUnavailableError if the breaker is open, if the store does not respond, or if it responds that it is
   *   unavailable
   */
  run<Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Abandons the calls in progress, so that an unresponsive store does not delay the shutdown. */
  shutDown(): void;
}

interface CircuitBreakerOptions {
  store: StoreName;
  /** The timeout of one call. */
  timeoutMs: number;
  /** Makes a minimal request to the store, on a new connection if calls use a pool. Rejects if the store is unavailable. */
  probe(signal: AbortSignal): Promise<unknown>;
  /** Returns whether an error means that the store is unavailable, not that the request was invalid. */
  isUnavailable(error: unknown): boolean;
  /** Called when the breaker opens, for example to discard unresponsive connections. */
  onOpen?: (() => void) | undefined;
  /** Prepares a store that is available again, so that its first calls are not slow. Called before the breaker closes. */
  warmUp?: (() => Promise<void>) | undefined;
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
}: CircuitBreakerOptions): CircuitBreaker {
  const openProbeTimeoutMs = Math.min(Math.max(timeoutMs, PROBE_TIMEOUT_MS), MAX_PROBE_TIMEOUT_MS);
  const inProgress = new Set<AbortController>();
  const shutdown = new AbortController();
  let isProbing = false;
  /** Whether any call has received a response since the current probe began. */
  let hasResponded = false;
  let isOpen = false;
  /** Why the breaker opened last. */
  let outageCause: unknown;

  /** Makes a call. Rejects when the signal aborts, even if the call ignores the signal. */
  async function raceWithAbort<Result>(
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      call(signal).then(resolve, reject);
    });
  }

  const probeSucceeds = (probeTimeoutMs: number) =>
    raceWithAbort(AbortSignal.timeout(probeTimeoutMs), probe).then(
      () => true,
      () => false,
    );

  /** Returns whether the breaker may close. A failed warm-up does not prevent that, unless it found the store unavailable. */
  const isReady = async () =>
    (await probeSucceeds(openProbeTimeoutMs)) &&
    (!warmUp ||
      raceWithAbort(AbortSignal.timeout(WARM_UP_TIMEOUT_MS), warmUp).then(
        () => true,
        (error) => !(error instanceof StoreUnavailableError),
      ));

  /** Probes the store after a failed call. If it is unavailable, opens the breaker until it is available again. */
  async function probeAfterFailure(cause: unknown): Promise<void> {
    isProbing = true;
    hasResponded = false;
    if (!(await probeSucceeds(PROBE_TIMEOUT_MS)) && !hasResponded && !shutdown.signal.aborted) {
      isOpen = true;
      outageCause = cause;
      log.warn({ err: firstErrorOf(cause), store }, 'store unavailable: circuit breaker open');
      for (const controller of inProgress) controller.abort(new StoreUnavailableError(store, { cause }));
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
      if (isOpen) throw new StoreUnavailableError(store, { cause: outageCause });
      const controller = new AbortController();
      const abandon = () => {
        // A call that has completed is not abandoned: its result may be a stream that uses the signal.
        if (inProgress.has(controller))
          controller.abort(new StoreUnavailableError(store, { cause: timedOut(timeoutMs) }));
      };
      // Abandoned one event loop iteration later: if this process was stalled, the response may already have arrived.
      const timer = setTimeout(() => setImmediate(abandon), timeoutMs);
      inProgress.add(controller);
      try {
        const result = await raceWithAbort(controller.signal, call);
        hasResponded = true;
        return result;
      } catch (error) {
        const wasAbandoned = error instanceof StoreUnavailableError;
        if (!wasAbandoned && !isUnavailable(error)) {
          hasResponded = true;
          throw error;
        }
        const cause = wasAbandoned ? error.cause : error;
        if (!isProbing && !shutdown.signal.aborted) void probeAfterFailure(cause);
        throw wasAbandoned ? error : new StoreUnavailableError(store, { cause });
      } finally {
        clearTimeout(timer);
        inProgress.delete(controller);
      }
    },

    shutDown() {
      shutdown.abort();
      for (const controller of inProgress) controller.abort(new StoreUnavailableError(store));
    },
  };
}
