import { clientClosed, overloaded } from '../errors.js';

/*
 * A bounded and fair work queue for password hashes, which take a lot of CPU time.
 *
 * - Fair: jobs wait in two lanes, which are served in turn: one for logins and registrations, one for authenticated
 *   users.
 * - Bounded: the expected waiting time is the number of waiting jobs, times an exponential moving average of the durations of
 *   completed jobs, divided by the concurrency. If it exceeds the maximum, the newest job of the longer lane is refused. So a
 *   flood of jobs in one lane leaves half of the queue to the other lane.
 * - Jobs with the same key run one after another.
 * - A waiting job is removed when its client disconnects.
 */

export type HashLane = 'unauthenticated' | 'authenticated';

export interface HashJobOptions {
  lane: HashLane;
  /** Jobs with the same key never run concurrently. */
  key?: string | undefined;
  /** Aborts if the client disconnects: a waiting job is then removed. A running job is not interrupted. */
  signal?: AbortSignal | undefined;
}

interface HashQueue {
  /**
   * Runs a job when it is its turn. Returns the result of the job.
   *
   * @throws HttpError 503 if the queue is full, 499 if `signal` aborts before the job has started
   */
  run<Result>(options: HashJobOptions, work: () => Promise<Result>): Promise<Result>;
  readonly counts: {
    readonly running: number;
    readonly waiting: number;
    /** How many jobs have been refused because the queue was full. */
    readonly refused: number;
    /** How many waiting jobs have been removed because their client disconnected. */
    readonly abandoned: number;
  };
}

interface Options {
  /** The number of jobs that run at the same time. */
  concurrency: number;
  maxWaitMs?: number;
  initialEstimateMs?: number;
  /** Returns the time of a monotonic clock, in milliseconds. */
  now?: () => number;
}

interface Job extends HashJobOptions {
  start(): void;
  refuse(error: Error): void;
}

/** The minimum duration of a job in the average, so that jobs that fail early do not lower the average too much. */
const MIN_DURATION_MS = 5;

/** The weight of the latest job in the moving average. */
const SMOOTHING_FACTOR = 0.1;

export function createHashQueue({
  concurrency,
  maxWaitMs = 2000,
  initialEstimateMs = 25,
  now = () => performance.now(),
}: Options): HashQueue {
  const lanes: Record<HashLane, Job[]> = { unauthenticated: [], authenticated: [] };
  const runningKeys = new Set<string>();
  const counts = {
    running: 0,
    get waiting() {
      return lanes.unauthenticated.length + lanes.authenticated.length;
    },
    refused: 0,
    abandoned: 0,
  };
  /** The lanes in the order in which they are asked for the next job. */
  const turns: HashLane[] = ['unauthenticated', 'authenticated'];
  let averageMs = initialEstimateMs;

  const isReady = ({ key }: Job) => key === undefined || !runningKeys.has(key);

  /** Removes and returns the next job that may run. Takes jobs from the lanes in turn, and skips those whose key is running. */
  function takeReady(): Job | undefined {
    for (const lane of turns) {
      const index = lanes[lane].findIndex(isReady);
      if (index < 0) continue;
      if (lane === turns[0]) turns.reverse();
      return lanes[lane].splice(index, 1)[0];
    }
    return undefined;
  }

  /** Starts jobs until the concurrency is reached. */
  function startReady(): void {
    while (counts.running < concurrency) {
      const job = takeReady();
      if (!job) return;
      job.start();
    }
  }

  /** Refuses jobs until the expected waiting time is within its maximum. */
  function refuseExcess(): void {
    while ((counts.waiting * averageMs) / concurrency > maxWaitMs) {
      const longer =
        lanes.unauthenticated.length > lanes.authenticated.length ? lanes.unauthenticated : lanes.authenticated;
      counts.refused++;
      longer.pop()?.refuse(overloaded());
    }
  }

  async function runJob<Result>({ key }: HashJobOptions, work: () => Promise<Result>): Promise<Result> {
    counts.running++;
    if (key !== undefined) runningKeys.add(key);
    const startedAt = now();
    try {
      return await work();
    } finally {
      counts.running--;
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
          counts.abandoned++;
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
    counts,
  };
}
