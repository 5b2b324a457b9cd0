import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * Creates the service's logger. Errors are logged with only the properties listed here, because stores may add sensitive
 * ones. Request and response objects are omitted, with their headers, bodies and queries.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    serializers: {
      err: (error: Error & { code?: unknown; cause?: unknown }) => ({
        type: error.name,
        code: error.code,
        message: error.message,
        stack: error.stack,
        ...(error.cause instanceof Error && { cause: error.cause.message }),
      }),
      req: () => undefined,
      res: () => undefined,
    },
  };
  return destination ? pino(options, destination) : pino(options);
}
