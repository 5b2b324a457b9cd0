import { clientClosed, overloaded } from '../http/errors.js';

/** Logins and registrations wait in one lane, checks by logged-in users in another. The lanes take turns. */
export type Lane = 'login' | 'account';

const LANES: readonly Lane[] = ['login', 'account'];

export interface Turn {
  lane: Lane;
  /** Jobs with the same key run one after another. */
  key?: string | undefined;
  /** Removes the job from the queue when it aborts. A job that has started runs to its end. */
  signal?: AbortSignal | undefined;
}

export interface HashQueue {
  /** @throws HttpError 503 when the queue is full, 499 when `signal` aborts before the job has started */
  run<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result>;
  readonly running: number;
  readonly waiting: number;
  /** How many jobs were refused because the queue was full, and how many left with their clients. */
  readonly refused: number;
  readonly abandoned: number;
}

interface Options {
  concurrency: number;
  /** How much work may wait, as the time that it is expected to take. */
  maxWaitMs?: number;
  /** How long a job is expected to take before any has been measured. */
  expectedMs?: number;
  /** The clock that measures jobs, in milliseconds. */
  now?: () => number;
}

interface Job extends Turn {
  start(): void;
  refuse(error: Error): void;
}

/** No hash takes less: a series of jobs that fail early must not make the queue seem fast. */
const MIN_EXPECTED_MS = 5;

/** The weight of the latest job in the moving average. */
const WEIGHT = 0.1;

/**
 * Creates a queue that is bounded by time, fair between its lanes, and cancellable. When it is full, the newest job of the
 * longer lane is refused, so that a flood in one lane leaves half of the queue to the other.
 */
export function createHashQueue({
  concurrency,
  maxWaitMs = 2000,
  expectedMs = 25,
  now = () => performance.now(),
}: Options): HashQueue {
  const lanes: Record<Lane, Job[]> = { login: [], account: [] };
  const runningKeys = new Set<string>();
  let running = 0;
  let refused = 0;
  let abandoned = 0;
  let averageMs = expectedMs;
  let nextLane = 0;

  const waiting = () => lanes.login.length + lanes.account.length;
  const isReady = ({ key }: Job) => key === undefined || !runningKeys.has(key);

  function takeReady(): Job | undefined {
    for (let offset = 0; offset < LANES.length; offset++) {
      const index = (nextLane + offset) % LANES.length;
      const jobs = lanes[LANES[index] as Lane];
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

  async function runNow<Result>({ key }: Turn, work: () => Promise<Result>): Promise<Result> {
    running++;
    if (key !== undefined) runningKeys.add(key);
    const startedAt = now();
    try {
      return await work();
    } finally {
      running--;
      if (key !== undefined) runningKeys.delete(key);
      averageMs += WEIGHT * (Math.max(MIN_EXPECTED_MS, now() - startedAt) - averageMs);
      startReady();
    }
  }

  return {
    run<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result> {
      const { lane, signal } = turn;
      return new Promise((resolve, reject) => {
        const abandon = () => {
          const index = lanes[lane].indexOf(job);
          if (index < 0) return;
          lanes[lane].splice(index, 1);
          abandoned++;
          reject(clientClosed());
        };
        const job: Job = {
          ...turn,
          start() {
            signal?.removeEventListener('abort', abandon);
            resolve(runNow(turn, work));
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
