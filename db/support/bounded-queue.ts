import { ClientDisconnectedError, OverloadedError } from './errors.js';

/*
 * A bounded queue in front of a scarce resource: threads for password hashes, the database during a long scan, or memory for
 * responses that clients have not read yet.
 *
 * - Work has a weight, such as its bytes. The total weight of the running work is limited, and also that of each key, such as an
 *   address, so that no single client can use all of the resource.
 * - Waiting work starts in the order of its arrival. Only work whose key has reached its limit is overtaken.
 * - Work may wait in several lanes, which take turns. A flood in one lane does not delay the others.
 * - Work that waits too long is refused. If too much is waiting, the newest work of the longest lane is refused.
 * - Work whose client disconnects leaves the queue.
 */

interface QueueLimits {
  /** The maximum total weight of the running work. Work that exceeds it alone may run, but only by itself. */
  maxRunning: number;
  /** The same for the running work of one key. */
  maxRunningPerKey?: number;
  /** The maximum total weight of the waiting work. */
  maxWaiting: number;
  maxWaitMs: number;
}

export interface QueuedWork {
  /** 1 by default. */
  weight?: number | undefined;
  /** What `maxRunningPerKey` applies to. */
  key?: string | undefined;
  lane?: string | undefined;
  /** Aborts when the client disconnects. Waiting work then leaves the queue; running work continues. */
  signal?: AbortSignal | undefined;
}

interface Waiter {
  weight: number;
  key: string | undefined;
  start(): void;
  refuse(): void;
}

const fits = (weight: number, used: number, limit: number) => used === 0 || used + weight <= limit;

export class BoundedQueue {
  readonly #limits: QueueLimits;
  /** The waiting work of each lane that has any. The first lane has the next turn. */
  readonly #lanes = new Map<string, Set<Waiter>>();
  /** The weight of the running work of each key. */
  readonly #runningByKey = new Map<string, number>();
  readonly #usage = { running: 0, waiting: 0, refused: 0, abandoned: 0 };

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /**
   * The weight of the running and of the waiting work, and how often work was refused, or abandoned because its client had
   * disconnected.
   */
  get usage(): Readonly<{ running: number; waiting: number; refused: number; abandoned: number }> {
    return this.#usage;
  }

  /** Runs `work` when it is its turn. @throws OverloadedError, ClientDisconnectedError if it does not start */
  async run<Result>(queued: QueuedWork, work: () => Promise<Result>): Promise<Result> {
    const release = await this.acquire(queued);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /**
   * Waits for the turn of some work. The caller has to call the returned function when the work ends.
   *
   * @throws OverloadedError, ClientDisconnectedError
   */
  acquire({ weight = 1, key, lane = '', signal }: QueuedWork): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abandon);
        this.#remove(lane, waiter);
      };
      const waiter: Waiter = {
        weight,
        key,
        start: () => {
          leave();
          this.#addRunning(weight, key);
          resolve(() => {
            this.#addRunning(-weight, key);
            this.#startReady();
          });
        },
        refuse: () => {
          leave();
          this.#usage.refused += 1;
          reject(new OverloadedError());
          this.#startReady();
        },
      };
      const abandon = () => {
        leave();
        this.#usage.abandoned += 1;
        reject(new ClientDisconnectedError());
        this.#startReady();
      };
      const timer = setTimeout(waiter.refuse, this.#limits.maxWaitMs);
      this.#add(lane, waiter);
      if (signal?.aborted) return abandon();
      signal?.addEventListener('abort', abandon);
      this.#startReady();
      this.#refuseExcess();
    });
  }

  #add(lane: string, waiter: Waiter): void {
    const waiters = this.#lanes.get(lane) ?? new Set();
    this.#lanes.set(lane, waiters.add(waiter));
    this.#usage.waiting += waiter.weight;
  }

  #remove(lane: string, waiter: Waiter): void {
    const waiters = this.#lanes.get(lane);
    if (!waiters?.delete(waiter)) return;
    if (waiters.size === 0) this.#lanes.delete(lane);
    this.#usage.waiting -= waiter.weight;
  }

  #addRunning(weight: number, key: string | undefined): void {
    this.#usage.running += weight;
    if (key === undefined) return;
    const running = (this.#runningByKey.get(key) ?? 0) + weight;
    if (running > 0) this.#runningByKey.set(key, running);
    else this.#runningByKey.delete(key);
  }

  #startReady(): void {
    for (let next = this.#takeTurn(); next; next = this.#takeTurn()) next.start();
  }

  /** Returns the next work that may run, and moves its lane behind the others. */
  #takeTurn(): Waiter | undefined {
    const { maxRunning, maxRunningPerKey = Number.POSITIVE_INFINITY } = this.#limits;
    for (const [lane, waiters] of this.#lanes) {
      for (const waiter of waiters) {
        const { weight, key } = waiter;
        // Smaller work behind it must wait too, or large work would never start.
        if (!fits(weight, this.#usage.running, maxRunning)) return undefined;
        if (key !== undefined && !fits(weight, this.#runningByKey.get(key) ?? 0, maxRunningPerKey)) continue;
        this.#lanes.delete(lane);
        this.#lanes.set(lane, waiters);
        return waiter;
      }
    }
    return undefined;
  }

  #refuseExcess(): void {
    while (this.#usage.waiting > this.#limits.maxWaiting) {
      const [longest] = [...this.#lanes.values()].sort((a, b) => b.size - a.size);
      [...(longest ?? [])].at(-1)?.refuse();
    }
  }
}
