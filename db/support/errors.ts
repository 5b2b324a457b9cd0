export type StoreName = 'postgres' | 'graph' | 'images' | 'redis';

/** A store did not respond or could not perform an operation. A write may nevertheless have taken effect. */
export class StoreUnavailableError extends Error {
  readonly code = 'store_unavailable';

  constructor(
    readonly store: StoreName,
    options?: ErrorOptions,
  ) {
    super(`The ${store} store is not available`, options);
    this.name = 'StoreUnavailableError';
  }
}
