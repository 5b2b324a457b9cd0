import { type StoreName, StoreUnavailableError } from './errors.js';

export type Outcome = 'ok' | 'unavailable' | 'error';

/** Is told what the stores do, for whoever measures them: names and numbers, never a key, a statement or a value. */
export interface Observer {
  storeCall(store: StoreName, verb: string, seconds: number, outcome: Outcome): void;
  /** So many look-ups or writes have gone together. */
  batch(name: string, size: number): void;
}

/** For what runs unmeasured. */
export const noopObserver: Observer = { storeCall: () => undefined, batch: () => undefined };

/** Tells the observer how long a call that is made just now takes, and how it ends. */
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
