/** How many batches of one kind may be under way. A second one hides the round trip; more would only make them smaller. */
const MAX_BATCHES_IN_FLIGHT = 2;

/** The longest batch, unless told otherwise: it bounds a statement's parameters and how long one keeps the others waiting. */
const DEFAULT_MAX_BATCH_SIZE = 500;

interface Options {
  maxBatchSize?: number;
  /** Told the size of each batch as it starts. */
  onBatch?(size: number): void;
}

interface Waiting<Key, Value> {
  key: Key;
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

/**
 * Gathers look-ups across the requests in flight: a call made while `load` is busy waits, and all that have waited go
 * together. Whatever is called in the same turn of the event loop goes together too. A batch starts after all of its calls
 * were made, so that every answer is as fresh as a query of the caller's own would have been; nothing is kept afterwards.
 *
 * `load` answers one value for each key, in the order of the keys. When it throws, all calls of that batch fail.
 */
export function batched<Key, Value>(
  load: (keys: Key[]) => Promise<readonly Value[]>,
  { maxBatchSize = DEFAULT_MAX_BATCH_SIZE, onBatch }: Options = {},
): (key: Key) => Promise<Value> {
  const waiting: Waiting<Key, Value>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function schedule() {
    if (scheduled || inFlight >= MAX_BATCHES_IN_FLIGHT || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void run(waiting.splice(0, maxBatchSize));
      schedule();
    });
  }

  async function run(batch: Waiting<Key, Value>[]) {
    inFlight += 1;
    onBatch?.(batch.length);
    try {
      const values = await load(batch.map(({ key }) => key));
      if (values.length !== batch.length)
        throw new Error(`${batch.length} keys were answered by ${values.length} values`);
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
      waiting.push({ key, resolve, reject });
      schedule();
    });
}
