import { StoreUnavailableError } from './errors.js';

/*
 * DataLoader-style batching of lookups and writes across concurrent requests, without a cache.
 *
 * Calls are collected during one iteration of the event loop, and for as long as the maximum number of batches is in progress.
 * They are then passed to `load` together. When there are many requests, batches grow, and fewer queries per request are
 * needed. A batch starts after all of its calls were made, so each result is as fresh as that of a separate query.
 */

/** With two, the store can work on one batch while the other is in transit. With more, each batch would only be smaller. */
const MAX_IN_FLIGHT = 2;

/** Limits the size of the arrays that are passed to a statement, and the time for which a batch delays the next calls. */
const DEFAULT_MAX_BATCH_SIZE = 500;

interface BatchOptions {
  maxBatchSize?: number;
  /** Called with the number of calls in a batch when the batch starts. */
  onBatch?(size: number): void;
}

interface PendingCall<Key, Value> {
  key: Key;
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

/**
 * Returns a function that batches its calls.
 *
 * @param load returns one value for each key, in the order of the keys. If it throws, all calls of the batch fail. If it throws
 *   because a store does not respond, so do the calls that wait for the next batch.
 */
export function batched<Key, Value>(
  load: (keys: Key[]) => Promise<readonly Value[]>,
  { maxBatchSize = DEFAULT_MAX_BATCH_SIZE, onBatch }: BatchOptions = {},
): (key: Key) => Promise<Value> {
  const pending: PendingCall<Key, Value>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function schedule() {
    if (scheduled || inFlight >= MAX_IN_FLIGHT || pending.length === 0) return;
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
      const values = await load(batch.map(({ key }) => key));
      if (values.length !== batch.length)
        throw new Error(`Expected ${batch.length} values, but load returned ${values.length}`);
      for (const [index, { resolve }] of batch.entries()) resolve(values[index] as Value);
    } catch (error) {
      // While a store does not respond, the calls that wait fail too. Otherwise, each would wait for several timeouts.
      const isSilent = error instanceof StoreUnavailableError && !error.responded;
      for (const { reject } of isSilent ? [...batch, ...pending.splice(0)] : batch) reject(error);
    } finally {
      inFlight -= 1;
      schedule();
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      pending.push({ key, resolve, reject });
      schedule();
    });
}
