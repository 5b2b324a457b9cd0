import { firstErrorOf, type StoreName } from './errors.js';

/** The methods of pino's logger that the stores use. */
export interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/**
 * Logs the failures of a frequent job: of several in a row, only the first. If `end` is given, also logs that the next run has
 * succeeded.
 */
export function createFailureLog(
  log: Log,
  message: string,
  { details = {}, end }: { details?: object; end?: string } = {},
) {
  let hasFailed = false;
  let succeededAt = Number.NEGATIVE_INFINITY;
  return {
    /** Reports a run that has failed after this long. Ignored if another run has succeeded meanwhile. */
    failed(error: unknown, durationMs = 0): void {
      if (performance.now() - succeededAt < durationMs) return;
      if (!hasFailed) log.warn({ err: firstErrorOf(error), ...details }, message);
      hasFailed = true;
    },
    succeeded(): void {
      if (hasFailed && end) log.info(details, end);
      hasFailed = false;
      succeededAt = performance.now();
    },
  };
}

/** Logs when a store becomes unavailable, and when it is available again. */
export const createAvailabilityLog = (log: Log, store: StoreName) =>
  createFailureLog(log, 'store unavailable', { details: { store }, end: 'store available' });
