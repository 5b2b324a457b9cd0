import type { BatchTracer } from './batch.js';
import { type StoreName, StoreUnavailableError } from './errors.js';

export type Outcome = 'ok' | 'unavailable' | 'error';

/** Receives measurements of the stores: names and numbers, never keys, statements or values. */
export interface Observer {
  storeCall(store: StoreName, verb: string, seconds: number, outcome: Outcome): void;
  /** Called for each batch with its number of look-ups or writes. */
  batch(name: string, size: number): void;
  /** Returns a tracer of batches with this name. Defined only while requests are traced. */
  batchTracer?(name: string): BatchTracer;
}

/** The observer of stores without metrics. */
export const noopObserver: Observer = { storeCall: () => undefined, batch: () => undefined };

/** Returns the options of batches that are reported to the observer. */
export const observedBatches = (observer: Observer, name: string) => ({
  onBatch: (size: number) => observer.batch(name, size),
  tracer: observer.batchTracer?.(name),
});

/** Awaits a call that has just started, and reports its duration and outcome. */
export async function timed<Result>(
  observer: Observer,
  store: StoreName,
  verb: string,
  call: Promise<Result>,
): Promise<Result> {
  const started = performance.now();
  let outcome: Outcome = 'ok';
  try {
    return await call;
  } catch (error) {
    outcome = error instanceof StoreUnavailableError ? 'unavailable' : 'error';
    throw error;
  } finally {
    observer.storeCall(store, verb, (performance.now() - started) / 1000, outcome);
  }
}

/** Whether calls to a store are allowed. */
export interface Gate {
  open: boolean;
}

/**
 * Returns a proxy of a store that reports every call that returns a promise, by its method's name. Nested objects with
 * methods (`snapshot`, the graph within a transaction) are wrapped too; streams, iterables and plain values are not. For an
 * image the duration ends when its stream is available.
 *
 * While the gate is closed every call throws StoreUnavailableError: an unverified store must not be read or changed.
 */
export function withMetrics<Store extends object>(
  name: StoreName,
  store: Store,
  observer: Observer,
  gate: Gate = { open: true },
): Store {
  const wrapped = (value: unknown) => (holdsMethods(value) ? withMetrics(name, value, observer, gate) : value);
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return wrapped(value);
      // Binding the graph to a transaction makes no call to the store.
      if (!gate.open && property !== 'within') {
        return () => timed(observer, name, String(property), Promise.reject(new StoreUnavailableError(name)));
      }
      return (...args: unknown[]) => {
        const result: unknown = value.apply(target, args);
        return result instanceof Promise ? timed(observer, name, String(property), result) : wrapped(result);
      };
    },
  });
}

const holdsMethods = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(Symbol.iterator in value) && !(Symbol.asyncIterator in value);
