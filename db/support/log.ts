/** The methods of pino's logger that the stores use. */
export interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** Logs the failures of a frequent job: of several in a row, only the first. */
export function createFailureLog(log: Log, message: string) {
  let hasFailed = false;
  return {
    failed(error: unknown): void {
      if (!hasFailed) log.warn({ err: error }, message);
      hasFailed = true;
    },
    succeeded(): void {
      hasFailed = false;
    },
  };
}
