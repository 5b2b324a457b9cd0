export type StoreName = 'postgres' | 'graph' | 'images' | 'redis';

/** A store did not answer, or could not do what was asked. Trying again later is safe. */
export class StoreUnavailableError extends Error {
  constructor(
    readonly store: StoreName,
    options?: ErrorOptions,
  ) {
    super(`The ${store} store is not available`, options);
    this.name = 'StoreUnavailable';
  }
}
