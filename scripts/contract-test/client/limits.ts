import { setTimeout as sleep } from 'node:timers/promises';

export type Bucket = 'strict' | 'general';

/** The state of a bucket, according to the responses so far. */
export interface BucketState {
  limit?: number;
  remaining?: number;
  /** The end of the window, in milliseconds since the epoch by the local clock. */
  resetsAt?: number;
}

/** The longest plausible window, if there is no `RateLimit-Policy`. */
const MAX_PLAUSIBLE_WINDOW_SECONDS = 24 * 60 * 60;

/** The resolution of the announced end of a window. */
const RESOLUTION_MS = 1000;

/** Added to the announced end of a window. */
const RESET_MARGIN_MS = 100;

/**
 * Creates a client-side rate limiter, which follows the `X-RateLimit-*` headers of the service. A request that would
 * exceed a limit waits for the next window.
 *
 * @param log prints a line when a request has to wait
 */
export function createLimits(log: (line: string) => void) {
  const states: Record<Bucket, BucketState & { inFlight: number; loggedReset?: number; policy?: string | null }> = {
    strict: { inFlight: 0 },
    general: { inFlight: 0 },
  };

  return {
    states: states as Readonly<Record<Bucket, BucketState>>,

    /** Waits until the window allows another request, and counts it as in flight. The signal ends the wait. */
    async acquire(bucket: Bucket, signal: AbortSignal) {
      const state = states[bucket];
      for (;;) {
        const { remaining, resetsAt = 0, limit, loggedReset = 0 } = state;
        const waitMs = resetsAt + RESET_MARGIN_MS - Date.now();
        // The count of a window that has ended does not apply to the next one.
        if (waitMs <= 0) delete state.remaining;
        if (remaining === undefined || waitMs <= 0 || remaining > state.inFlight) break;
        // Each response announces a slightly different end of the same window.
        if (resetsAt > loggedReset + RESOLUTION_MS && remaining <= 0) {
          state.loggedReset = resetsAt;
          const until = new Date(resetsAt).toTimeString().slice(0, 8);
          const size = limit === undefined ? '' : ` of ${limit}`;
          log(`The ${bucket} rate limit${size} is used up: waiting ${formatDuration(waitMs)}, until ${until}.`);
        }
        // Requests in flight may turn out not to be counted, so this checks again soon.
        await sleep(remaining > 0 ? Math.min(waitMs, 20) : waitMs, undefined, { signal });
      }
      state.inFlight += 1;
    },

    /** Must be called once after every `acquire`, even if the request fails. */
    release(bucket: Bucket) {
      states[bucket].inFlight -= 1;
    },

    /**
     * Updates a bucket from the headers of a response. Ignores a response whose `RateLimit-Policy` differs from the first
     * policy of the bucket, because the service counts cross-site requests in a separate bucket. Also ignores a response whose
     * `X-RateLimit-Reset` exceeds the length of the window: the value is probably not in seconds, and the run would wait
     * instead of reporting this failure.
     */
    update(bucket: Bucket, headers: Headers) {
      const state = states[bucket];
      const read = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN);
      const [limit, remaining, reset] = [read('limit'), read('remaining'), read('reset')];
      if (![limit, remaining, reset].every(Number.isFinite)) return;
      const policy = headers.get('ratelimit-policy');
      state.policy ??= policy;
      if (policy !== state.policy) return;
      const [, windowSeconds = MAX_PLAUSIBLE_WINDOW_SECONDS] = /;w=(\d+)/.exec(policy ?? '') ?? [];
      if (reset > Number(windowSeconds)) return;
      state.limit = limit;
      const resetsAt = Date.now() + reset * 1000;
      const isNewWindow = resetsAt > (state.resetsAt ?? 0) + RESOLUTION_MS;
      state.remaining = isNewWindow ? remaining : Math.min(state.remaining ?? remaining, remaining);
      state.resetsAt = Math.max(state.resetsAt ?? 0, resetsAt);
    },

    /** Blocks a bucket for the `Retry-After` of a 429. */
    markExhausted(bucket: Bucket, headers: Headers) {
      const seconds = Number(headers.get('retry-after') ?? 1);
      states[bucket].remaining = 0;
      states[bucket].resetsAt = Date.now() + (Number.isFinite(seconds) ? Math.max(seconds, 0.2) : 1) * 1000;
    },
  };
}

/** Returns a duration as text, rounded up to seconds, such as `9 s` or `14 min 32 s`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
