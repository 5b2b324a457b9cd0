import { StoreUnavailableError } from '../support/errors.js';
import type { ImageStore } from './index.js';

/** Lets a backup hold still what it copies. */
export interface ImageHolds {
  /**
   * Removes nothing until the returned function is called: removals fail as if the store were unavailable, and the outbox
   * tries them again.
   */
  holdRemovals(): Promise<() => void>;
  /** Stores nothing until the returned function is called: what is being stored ends before, and new images wait. */
  holdPuts(): Promise<() => void>;
}

export function withHolds(store: ImageStore): ImageStore & { holds: ImageHolds } {
  const underWay = { put: new Set<Promise<void>>(), remove: new Set<Promise<void>>() };
  let removalsHeld = false;
  let putsHeld: Promise<void> | undefined;

  function track(kind: keyof typeof underWay, call: Promise<void>): Promise<void> {
    const settled = call.catch(() => undefined).finally(() => underWay[kind].delete(settled));
    underWay[kind].add(settled);
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
        await Promise.all(underWay.remove);
        return () => {
          removalsHeld = false;
        };
      },
      async holdPuts() {
        const { promise, release } = createHold();
        putsHeld = promise;
        await Promise.all(underWay.put);
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
