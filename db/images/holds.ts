import { StoreUnavailableError } from '../support/errors.js';
import type { ImageStore } from './index.js';

/** Lets a backup pause changes to the images that it copies. */
export interface ImageHolds {
  /**
   * Waits for removals in progress, then makes removals fail as if the store were unavailable until the returned function is
   * called. The outbox retries them.
   */
  holdRemovals(): Promise<() => void>;
  /** Waits for `put` calls in progress, then makes new ones wait until the returned function is called. */
  holdPuts(): Promise<() => void>;
}

export function withHolds(store: ImageStore): ImageStore & { holds: ImageHolds } {
  const inProgress = { put: new Set<Promise<void>>(), remove: new Set<Promise<void>>() };
  let removalsHeld = false;
  let putsHeld: Promise<void> | undefined;

  function track(kind: keyof typeof inProgress, call: Promise<void>): Promise<void> {
    const settled = call.catch(() => undefined).finally(() => inProgress[kind].delete(settled));
    inProgress[kind].add(settled);
    return call;
  }

  return {
    ...store,
    async put(name, path) {
      while (putsHeld) await putsHeld;
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
        putsHeld = promise;
        await Promise.all(inProgress.put);
        return () => {
          putsHeld = undefined;
          release();
        };
      },
    },
  };
}

function createHold(): { promise: Promise<void>; release: () => void } {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
