import { clientClosed, overloaded } from '../http/errors.js';

/*
 * A bounded, fair work queue for password hashes, which take much CPU time.
 *
 * Jobs wait in two lanes, which are served round-robin: `login` for logins and registrations, `account` for logged-in users.
 * The queue is bounded by the expected waiting time: the number of waiting jobs times an exponential moving average of job
 * durations, divided by the concurrency. When it is full, the newest job of the longer lane is refused, so a flood in one
 * lane leaves half of the queue to the other. Jobs with the same key run one after another. A waiting job is removed when
 * its client disconnects.
 */

export type HashLane = 'login' | 'account';

const LANES: readonly HashLane[] = ['login', 'account'];

export interface HashJobOptions {
  lane: HashLane;
  /** Jobs with the same key never run concurrently. */
  key?: string | undefined;
  /** Removes the job from the queue on abort. A job that has started is not interrupted. */
  signal?: AbortSignal | undefined;
}

export interface HashQueue {
  /**
   * Runs a job when its turn comes, and returns its result.
   *
   * @throws HttpError 503 if the queue is full, 499 if `signal` aborts before the job has started
   */
  run<Result>(options: HashJobOptions, work: () => Promise<Result>): Promise<Result>;
  readonly running: number;
  readonly waiting: number;
  /** How many jobs were refused because the queue was full. */
  readonly refused: number;
  /** How many waiting jobs were removed because their client disconnected. */
  readonly abandoned: number;
}

interface Options {
  concurrency: number;
  /** The maximum expected waiting time. */
  maxWaitMs?: number;
  /** The initial estimate of a job's duration. */
  initialEstimateMs?: number;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
}

interface Job extends HashJobOptions {
  start(): void;
  refuse(error: Error): void;
}

/** The minimum duration to include in the average, so that jobs that fail early do not lower it too far. */
const MIN_DURATION_MS = 5;

/** The weight of the latest job in the moving average. */
const SMOOTHING_FACTOR = 0.1;

export function createHashQueue({
  concurrency,
  maxWaitMs = 2000,
  initialEstimateMs = 25,
  now = () => performance.now(),
}: Options): HashQueue {
  const lanes: Record<HashLane, Job[]> = { login: [], account: [] };
  const runningKeys = new Set<string>();
  let running = 0;
  let refused = 0;
  let abandoned = 0;
  let averageMs = initialEstimateMs;
  let nextLane = 0;

  const waiting = () => lanes.login.length + lanes.account.length;
  const isReady = ({ key }: Job) => key === undefined || !runningKeys.has(key);

  /** Removes and returns the next job whose key is not running, from the lanes in turn. */
  function takeReady(): Job | undefined {
    for (let offset = 0; offset < LANES.length; offset++) {
      const index = (nextLane + offset) % LANES.length;
      const jobs = lanes[LANES[index] as HashLane];
      const ready = jobs.findIndex(isReady);
      if (ready < 0) continue;
      nextLane = (index + 1) % LANES.length;
      return jobs.splice(ready, 1)[0];
    }
    return undefined;
  }

  function startReady(): void {
    while (running < concurrency) {
      const job = takeReady();
      if (!job) return;
      job.start();
    }
  }

  function refuseExcess(): void {
    while ((waiting() * averageMs) / concurrency > maxWaitMs) {
      const longer = lanes.login.length > lanes.account.length ? lanes.login : lanes.account;
      refused++;
      longer.pop()?.refuse(overloaded());
    }
  }

  async function runJob<Result>({ key }: HashJobOptions, work: () => Promise<Result>): Promise<Result> {
    running++;
    if (key !== undefined) runningKeys.add(key);
    const startedAt = now();
    try {
      return await work();
    } finally {
      running--;
      if (key !== undefined) runningKeys.delete(key);
      averageMs += SMOOTHING_FACTOR * (Math.max(MIN_DURATION_MS, now() - startedAt) - averageMs);
      startReady();
    }
  }

  return {
    run<Result>(options: HashJobOptions, work: () => Promise<Result>): Promise<Result> {
      const { lane, signal } = options;
      return new Promise((resolve, reject) => {
        const abandon = () => {
          const index = lanes[lane].indexOf(job);
          if (index < 0) return;
          lanes[lane].splice(index, 1);
          abandoned++;
          reject(clientClosed());
        };
        const job: Job = {
          ...options,
          start() {
            signal?.removeEventListener('abort', abandon);
            resolve(runJob(options, work));
          },
          refuse(error) {
            signal?.removeEventListener('abort', abandon);
            reject(error);
          },
        };
        lanes[lane].push(job);
        if (signal?.aborted) return abandon();
        signal?.addEventListener('abort', abandon, { once: true });
        startReady();
        refuseExcess();
      });
    },
    get running() {
      return running;
    },
    get waiting() {
      return waiting();
    },
    get refused() {
      return refused;
    },
    get abandoned() {
      return abandoned;
    },
  };
}
