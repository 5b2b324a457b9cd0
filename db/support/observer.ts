import { type StoreName, StoreUnavailableError } from './errors.js';

export type Outcome = 'ok' | 'unavailable' | 'error';

/** Receives measurements of the stores: names and numbers, never keys, statements or values. */
export interface Observer {
  storeCall(store: StoreName, verb: string, seconds: number, outcome: Outcome): void;
  /** Called for each batch with its number of look-ups or writes. */
  batch(name: string, size: number): void;
}

/** The observer of stores without metrics. */
export const noopObserver: Observer = { storeCall: () => undefined, batch: () => undefined };

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
