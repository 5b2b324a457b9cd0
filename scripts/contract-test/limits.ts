import { setTimeout as sleep } from 'node:timers/promises';

export type Bucket = 'strict' | 'general';

/** What the answers so far have said of one bucket. */
export interface Standing {
  limit?: number;
  remaining?: number;
  /** When the window ends, by our clock. */
  resetsAt?: number;
}

export interface Limits {
  readonly standings: Readonly<Record<Bucket, Standing>>;
  /** Resolves when the bucket has room for one more request. */
  takeTurn(bucket: Bucket): Promise<void>;
  /** To be called once for every turn, whatever came of it. */
  endTurn(bucket: Bucket): void;
  /** Notes what an answer says of its bucket. */
  note(bucket: Bucket, headers: Headers): void;
  /** To be called for a 429: nothing more is sent until its window is over. */
  exhaust(bucket: Bucket, headers: Headers): void;
}

/** How much later than announced a window is taken to have ended: the service says whole seconds. */
const MARGIN = 100;

/**
 * Keeps a run within the service's rate limits: a request that would be refused waits for the window to end.
 *
 * @param say prints a line when somebody has to wait
 */
export function createLimits(say: (line: string) => void, signal: AbortSignal): Limits {
  const standings: Record<Bucket, Standing & { underWay: number; announced?: number }> = {
    strict: { underWay: 0 },
    general: { underWay: 0 },
  };

  return {
    standings,

    async takeTurn(bucket) {
      const standing = standings[bucket];
      for (;;) {
        const { remaining, resetsAt = 0, limit } = standing;
        const wait = resetsAt + MARGIN - Date.now();
        // What a window that is over has left says nothing of the next one.
        if (wait <= 0) delete standing.remaining;
        if (remaining === undefined || wait <= 0 || remaining > standing.underWay) break;
        if (standing.announced !== resetsAt && remaining <= 0) {
          standing.announced = resetsAt;
          const until = new Date(resetsAt).toTimeString().slice(0, 8);
          say(`The ${bucket} rate limit of ${limit} is used up: waiting ${duration(wait)}, until ${until}.`);
        }
        // Answers under way may still tell of a new window.
        await sleep(remaining > 0 ? Math.min(wait, 20) : wait, undefined, { signal });
      }
      standing.underWay += 1;
    },

    endTurn(bucket) {
      standings[bucket].underWay -= 1;
    },

    note(bucket, headers) {
      const standing = standings[bucket];
      const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
        const value = headers.get(`x-ratelimit-${name}`);
        return value === null ? Number.NaN : Number(value);
      }) as [number, number, number];
      if (![limit, remaining, reset].every(Number.isFinite)) return;
      standing.limit = limit;
      standing.remaining = Math.min(standing.remaining ?? remaining, remaining);
      standing.resetsAt = Math.max(standing.resetsAt ?? 0, Date.now() + reset * 1000);
    },

    exhaust(bucket, headers) {
      const seconds = Number(headers.get('retry-after') ?? 1);
      standings[bucket].remaining = 0;
      standings[bucket].resetsAt = Date.now() + (Number.isFinite(seconds) ? Math.max(seconds, 0.2) : 1) * 1000;
    },
  };
}

/** `9 s`, `14 min 32 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
