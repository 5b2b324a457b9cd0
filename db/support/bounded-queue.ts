import { ClientDisconnectedError, OverloadedError } from './errors.js';

/*
 * A bounded queue in front of a scarce resource: threads for password hashes, the database during a long scan, or memory for
 * responses that clients have not read yet.
 *
 * - Work has a weight, such as its bytes. The total weight of the running work is limited, and also that of each key, such as an
 *   address or a user, so that no single client can use all of the resource.
 * - Work may wait in several lanes, which take turns. In a lane, the keys take turns, except those that have reached their limit.
 *   So a flood of one key or lane does not delay the others.
 * - Work that waits too long is refused. If too much is waiting, the newest work of the longest key of the longest lane is refused.
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
  /** Whose work it is. Work without a key has one of its own. */
  key?: string | undefined;
  lane?: string | undefined;
  /** Aborts when the client disconnects. Waiting work then leaves the queue; running work continues. */
  signal?: AbortSignal | undefined;
}

type Key = string | symbol;

interface Waiter {
  weight: number;
  start(): void;
  refuse(): void;
}

/** The waiting work of each key that has any. The first key has the next turn. */
type Lane = Map<Key, Set<Waiter>>;

const countOf = (lane: Lane) => [...lane.values()].reduce((sum, { size }) => sum + size, 0);

const fits = (weight: number, used: number, limit: number) => used === 0 || used + weight <= limit;

export class BoundedQueue {
  readonly #limits: QueueLimits;
  /** The lanes that have waiting work. The first lane has the next turn. */
  readonly #lanes = new Map<string, Lane>();
  /** The weight of the running work of each key. */
  readonly #runningByKey = new Map<Key, number>();
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
  acquire({ weight = 1, key: given, lane = '', signal }: QueuedWork): Promise<() => void> {
    const key = given ?? Symbol();
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abandon);
        this.#remove(lane, key, waiter);
      };
      const waiter: Waiter = {
        weight,
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
      this.#add(lane, key, waiter);
      if (signal?.aborted) return abandon();
      signal?.addEventListener('abort', abandon);
      this.#startReady();
      this.#refuseExcess();
    });
  }

  #add(laneName: string, key: Key, waiter: Waiter): void {
    const lane = this.#lanes.get(laneName) ?? new Map();
    const waiters = lane.get(key) ?? new Set();
    this.#lanes.set(laneName, lane.set(key, waiters.add(waiter)));
    this.#usage.waiting += waiter.weight;
  }

  #remove(laneName: string, key: Key, waiter: Waiter): void {
    const lane = this.#lanes.get(laneName);
    const waiters = lane?.get(key);
    if (!waiters?.delete(waiter)) return;
    if (waiters.size === 0) lane?.delete(key);
    if (lane?.size === 0) this.#lanes.delete(laneName);
    this.#usage.waiting -= waiter.weight;
  }

  #addRunning(weight: number, key: Key): void {
    this.#usage.running += weight;
    const running = (this.#runningByKey.get(key) ?? 0) + weight;
    if (running > 0) this.#runningByKey.set(key, running);
    else this.#runningByKey.delete(key);
  }

  #startReady(): void {
    for (let next = this.#takeTurn(); next; next = this.#takeTurn()) next.start();
  }

  /** Returns the next work that may run, and moves its lane and its key behind the others. */
  #takeTurn(): Waiter | undefined {
    const { maxRunning, maxRunningPerKey = Number.POSITIVE_INFINITY } = this.#limits;
    for (const [laneName, lane] of this.#lanes) {
      for (const [key, waiters] of lane) {
        const [waiter] = waiters as Set<Waiter> & [Waiter];
        // Smaller work behind it must wait too, or large work would never start.
        if (!fits(waiter.weight, this.#usage.running, maxRunning)) return undefined;
        if (!fits(waiter.weight, this.#runningByKey.get(key) ?? 0, maxRunningPerKey)) continue;
        this.#lanes.delete(laneName);
        this.#lanes.set(laneName, lane);
        lane.delete(key);
        lane.set(key, waiters);
        return waiter;
      }
    }
    return undefined;
  }

  #refuseExcess(): void {
    while (this.#usage.waiting > this.#limits.maxWaiting) {
      const lane = [...this.#lanes.values()].sort((a, b) => countOf(a) - countOf(b)).at(-1);
      const waiters = [...(lane?.values() ?? [])].sort((a, b) => a.size - b.size).at(-1);
      [...(waiters ?? [])].at(-1)?.refuse();
    }
  }
}
