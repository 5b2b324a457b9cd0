export type StoreName = 'postgres' | 'graph' | 'images' | 'redis';

/** Returns the first of several errors: a failed connection to a name with several addresses has no message of its own. */
export const firstErrorOf = (error: unknown): unknown => (error instanceof AggregateError ? error.errors[0] : error);

/** Returns the message of a cause in one line, behind a colon; nothing without a cause. */
function because(cause: unknown): string {
  const { message = '', code } = (firstErrorOf(cause) ?? {}) as { message?: string; code?: string };
  // What PostgreSQL says of a read-only transaction does not tell why it is one.
  const hint = code === '25006' ? ': the disk is full, or the server is a standby' : '';
  return message && `: ${message}${hint}`.replace(/\s+/g, ' ').trimEnd();
}

/**
 * A store did not respond or could not perform an operation. A write may nevertheless have taken effect. The message contains
 * that of the cause, which must contain no secrets.
 */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly code = 'store_unavailable';

  /** Whether the store itself reported the error, so that its next calls may succeed. */
  readonly responded: boolean;

  constructor(
    readonly store: StoreName,
    { responded = false, ...options }: ErrorOptions & { responded?: boolean } = {},
  ) {
    super(`The ${store} store is not available${because(options.cause)}`, options);
    this.responded = responded;
  }

  /** Whether a file system (ENOSPC) or PostgreSQL (53100) has reported a full disk. */
  get isDiskFull(): boolean {
    return ['ENOSPC', '53100'].includes((this.cause as { code?: string } | undefined)?.code ?? '');
  }
}

/** There is more work than can be done in time. Retrying later is safe. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
  readonly code = 'overloaded';

  constructor() {
    super('Too much work is waiting');
  }
}

/** The client disconnected before the work was done. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
  readonly code = 'client_disconnected';

  constructor() {
    super('The client has disconnected');
  }
}
