/**
 * DataLoader-style batching of look-ups and writes across concurrent requests, without caching.
 *
 * Calls made in the same iteration of the event loop, or while earlier batches are in progress, are collected and passed to
 * `load` together. Under load, batches grow and the number of queries per request falls. A batch starts after all of its
 * calls were made, so each result is as fresh as that of a separate query.
 */

/** A second batch hides the round trip of the first. More would only make batches smaller. */
const DEFAULT_MAX_IN_FLIGHT = 2;

/** Bounds the parameters of a statement and the time that a large batch delays the next calls. */
const DEFAULT_MAX_BATCH_SIZE = 500;

interface Options {
  maxBatchSize?: number;
  /** The maximum number of batches in progress. */
  maxInFlight?: number;
  /** Called with the size of each batch when it starts. */
  onBatch?(size: number): void;
  tracer?: BatchTracer | undefined;
}

/** Follows requests into the batches that serve them: a batch runs in the asynchronous context of whichever call started it. */
export interface BatchTracer {
  /** Returns the origin of the current call. */
  origin(): unknown;
  /** Runs a batch, given the origin of each of its calls. */
  run<Result>(origins: readonly unknown[], load: () => Promise<Result>): Promise<Result>;
}

interface PendingCall<Key, Value> {
  key: Key;
  origin: unknown;
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

/**
 * Returns a function that batches its calls.
 *
 * @param load returns one value for each key, in the order of the keys. If it throws, all calls of the batch fail.
 */
export function batched<Key, Value>(
  load: (keys: Key[]) => Promise<readonly Value[]>,
  { maxBatchSize = DEFAULT_MAX_BATCH_SIZE, maxInFlight = DEFAULT_MAX_IN_FLIGHT, onBatch, tracer }: Options = {},
): (key: Key) => Promise<Value> {
  const pending: PendingCall<Key, Value>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function schedule() {
    if (scheduled || inFlight >= maxInFlight || pending.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void run(pending.splice(0, maxBatchSize));
      schedule();
    });
  }

  async function run(batch: PendingCall<Key, Value>[]) {
    inFlight += 1;
    onBatch?.(batch.length);
    try {
      const keys = batch.map(({ key }) => key);
      const values = await (tracer
        ? tracer.run(
            batch.map(({ origin }) => origin),
            () => load(keys),
          )
        : load(keys));
      if (values.length !== batch.length)
        throw new Error(`Expected ${batch.length} values, but load returned ${values.length}`);
      for (const [index, { resolve }] of batch.entries()) resolve(values[index] as Value);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      inFlight -= 1;
      schedule();
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      pending.push({ key, origin: tracer?.origin(), resolve, reject });
      schedule();
    });
}
