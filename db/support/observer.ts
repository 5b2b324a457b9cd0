import { type StoreName, StoreUnavailableError } from './errors.js';

export type CallOutcome = 'ok' | 'unavailable' | 'error';

/** Receives measurements of the stores. They contain names and numbers, but no keys, statements or values. */
export interface Observer {
  /** Called after each call to a store. `verb` names the method or command. */
  storeCall(store: StoreName, verb: string, seconds: number, outcome: CallOutcome): void;
  /** Called for each batch, with its number of lookups or writes. */
  batch(name: string, size: number): void;
}

/** An observer that ignores all measurements. */
export const noopObserver: Observer = { storeCall: () => undefined, batch: () => undefined };

/** Returns the options of `batched` that report its batches to the observer. */
export const observedBatches = (observer: Observer, name: string) => ({
  onBatch: (size: number) => observer.batch(name, size),
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
  /** Why the store could not be verified. */
  cause?: unknown;
}

/**
 * Returns the store with these methods replaced: each reports its calls to the observer, and rejects with StoreUnavailableError
 * while the gate allows no calls, because an unverified store must not be used.
 */
export function observeMethods<Store extends object, Method extends keyof Store & string>(
  name: StoreName,
  store: Store,
  methods: readonly Method[],
  observer: Observer,
  gate: Gate,
): Store {
  const observed = methods.map((method) => {
    const start = store[method] as (...args: unknown[]) => Promise<unknown>;
    const call = (...args: unknown[]) =>
      gate.allowsCalls
        ? start.apply(store, args)
        : Promise.reject(new StoreUnavailableError(name, { cause: gate.cause }));
    return [method, (...args: unknown[]) => timed(observer, name, method, call(...args))];
  });
  return { ...store, ...Object.fromEntries(observed) };
}
