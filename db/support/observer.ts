import type { BatchTracer } from './batch.js';
import { type StoreName, StoreUnavailableError } from './errors.js';

export type CallOutcome = 'ok' | 'unavailable' | 'error';

/** Receives measurements of the stores. They contain names and numbers, but no keys, statements or values. */
export interface Observer {
  /** Called after each call to a store. `verb` names the method or command. */
  storeCall(store: StoreName, verb: string, seconds: number, outcome: CallOutcome): void;
  /** Called for each batch, with its number of lookups or writes. */
  batch(name: string, size: number): void;
  /** Returns a tracer for batches with this name. Defined only if requests are traced. */
  batchTracer?(name: string): BatchTracer;
}

/** An observer that ignores all measurements. */
export const noopObserver: Observer = { storeCall: () => undefined, batch: () => undefined };

/** Returns the options of `batched` that report its batches to the observer. */
export const observedBatches = (observer: Observer, name: string) => ({
  onBatch: (size: number) => observer.batch(name, size),
  tracer: observer.batchTracer?.(name),
});

/** Returns the outcome of a call that failed with this error. */
export const outcomeOf = (error: unknown): CallOutcome =>
  error instanceof StoreUnavailableError ? 'unavailable' : 'error';

/** Awaits a call that was just started, and reports its duration and outcome. */
export async function timed<Result>(
  observer: Observer,
  store: StoreName,
  verb: string,
  call: Promise<Result>,
): Promise<Result> {
  const started = performance.now();
  let outcome: CallOutcome = 'ok';
  try {
    return await call;
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    observer.storeCall(store, verb, (performance.now() - started) / 1000, outcome);
  }
}

/** Whether calls to a store are allowed. Not a circuit breaker: they are forbidden only until the store has been verified. */
export interface Gate {
  allowsCalls: boolean;
}

/**
 * Returns a proxy of a store. While the gate allows no calls, every call rejects with StoreUnavailableError, because an
 * unverified store must not be used.
 *
 * Every call that returns a promise is reported, under the name of the method. Nested objects with methods (`bulk`, the graph
 * within a transaction) are wrapped too; streams, iterables and plain values are not. The reported duration of reading an image
 * ends when its stream is available.
 */
export function withGateAndMetrics<Store extends object>(
  name: StoreName,
  store: Store,
  observer: Observer,
  gate: Gate = { allowsCalls: true },
): Store {
  const wrapped = (value: unknown) => (isWrappable(value) ? withGateAndMetrics(name, value, observer, gate) : value);
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return wrapped(value);
      // `within` only binds the graph to a transaction, and makes no call to the store.
      if (!gate.allowsCalls && property !== 'within') {
        return () => timed(observer, name, String(property), Promise.reject(new StoreUnavailableError(name)));
      }
      return (...args: unknown[]) => {
        const result: unknown = value.apply(target, args);
        return result instanceof Promise ? timed(observer, name, String(property), result) : wrapped(result);
      };
    },
  });
}

/** Returns whether a value is an object to wrap: not a stream, an iterable or a plain value. */
const isWrappable = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(Symbol.iterator in value) && !(Symbol.asyncIterator in value);
