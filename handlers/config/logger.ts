import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * The service's log. Only what is named here gets out of an error or a request: no header, no body, no query, and nothing
 * that a store puts beside its message.
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
