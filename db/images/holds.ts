import { StoreUnavailableError } from '../support/errors.js';
import type { ImageStore } from './index.js';

/** Lets a backup hold off changes while it copies the images. Each method returns a function that ends the hold. */
export interface ImageHolds {
  /** Makes new removals fail with StoreUnavailableError: the outbox retries them later. Waits for removals in progress. */
  holdRemovals(): Promise<() => void>;
  /** Makes new `put` calls wait until the hold ends. Waits for `put` calls in progress. */
  holdPuts(): Promise<() => void>;
}

/** Wraps a store so that `put` and `remove` can be held off. */
export function withHolds(store: ImageStore): ImageStore & { holds: ImageHolds } {
  const inProgress = { put: new Set<Promise<void>>(), remove: new Set<Promise<void>>() };
  let removalsHeld = false;
  /** Resolves when `put` may continue. Undefined while there is no hold. */
  let putsReleased: Promise<void> | undefined;

  /** Records a call as in progress until it is complete. */
  function track(kind: keyof typeof inProgress, call: Promise<void>): Promise<void> {
    const settled = call.catch(() => undefined).finally(() => inProgress[kind].delete(settled));
    inProgress[kind].add(settled);
    return call;
  }

  return {
    ...store,
    async put(name, path) {
      while (putsReleased) await putsReleased;
      return track('put', store.put(name, path));
    },
    async remove(name) {
      if (removalsHeld) throw new StoreUnavailableError('images');
      return track('remove', store.remove(name));
    },
    holds: {
      async holdRemovals() {
        removalsHeld = true;
        await Promise.all(inProgress.remove);
        return () => {
          removalsHeld = false;
        };
      },
      async holdPuts() {
        const { promise, release } = createHold();
        putsReleased = promise;
        await Promise.all(inProgress.put);
        return () => {
          putsReleased = undefined;
          release();
        };
      },
    },
  };
}

/** Returns a promise, and a function that resolves it. */
function createHold(): { promise: Promise<void>; release: () => void } {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
