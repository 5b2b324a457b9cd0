import { type StoreName, StoreUnavailableError } from './errors.js';
import { type Observer, timed } from './observer.js';

/** Whether a store may be used. */
export interface Gate {
  open: boolean;
}

/**
 * The same store, with every call that answers a promise told to the observer by its method's name. What holds methods in
 * turn (`inventory`, the graph within a transaction) is measured too; streams, iterables and plain values pass as they
 * are. Of an image the time until its stream is there counts, not how long it flows.
 *
 * While the gate is closed every call fails: a store whose identity is not verified yet must not be read or changed.
 */
export function withMetrics<Store extends object>(
  name: StoreName,
  store: Store,
  observer: Observer,
  gate: Gate = { open: true },
): Store {
  const passed = (value: unknown) => (holdsMethods(value) ? withMetrics(name, value, observer, gate) : value);
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return passed(value);
      // To bind the graph to a transaction asks the store nothing.
      if (!gate.open && property !== 'within') {
        return () => timed(observer, name, String(property), Promise.reject(new StoreUnavailableError(name)));
      }
      return (...args: unknown[]) => {
        const result: unknown = value.apply(target, args);
        return result instanceof Promise ? timed(observer, name, String(property), result) : passed(result);
      };
    },
  });
}

const holdsMethods = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(Symbol.iterator in value) && !(Symbol.asyncIterator in value);
