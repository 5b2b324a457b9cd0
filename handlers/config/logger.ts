import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './index.js';
import { formatLogLine } from './log-text.js';

/**
 * Creates the logger of the service. Only the listed properties of errors are logged, because stores may add sensitive ones.
 * Request and response objects are omitted, because they contain headers, bodies and queries.
 *
 * @param destination where to write log lines; standard output by default. If `logFormat` is undefined, a terminal gets
 *   text, and any other destination JSON
 */
export function createLogger(
  { logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  destination?: DestinationStream & { isTTY?: boolean },
): Logger {
  const options = {
    level: logLevel,
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
  const output = destination ?? process.stdout;
  const format = logFormat ?? (output.isTTY ? 'text' : 'json');
  if (format === 'text') return pino(options, { write: (line) => output.write(formatLogLine(line)) });
  return destination ? pino(options, destination) : pino(options);
}
