import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './index.js';

/** The maximum size of the lines that wait while standard output accepts none. Further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Opens standard output. Writes are asynchronous, so that a slow reader of the log does not delay requests. */
function openStandardOutput() {
  const { fd } = process.stdout;
  // A failed write is repeated with the next line. Without a listener, it would end the process.
  const output = pino.destination({ dest: fd, sync: false, maxLength: MAX_WAITING_BYTES }).on('error', () => undefined);
  // pino calls this at exit. SonicBoom's own method would repeat a failed write forever: on a full disk, the process would not
  // exit. SonicBoom has no public access to the waiting lines.
  output.flushSync = () => {
    const { _bufs } = output as unknown as { _bufs: string[] };
    try {
      writeSync(fd, _bufs.join(''));
    } catch {
      // The lines are lost.
    }
  };
  return output;
}

/** Returns the format of the log: unless the configuration decides, text on a terminal, and JSON otherwise. */
export const logFormatOf = ({ logFormat }: Pick<Config, 'logFormat'>, { isTTY }: { isTTY?: boolean }) =>
  logFormat ?? (isTTY ? 'text' : 'json');

/**
 * Creates the logger of the service. Only the listed properties of errors are logged, because stores may add sensitive ones.
 * Request and response objects are omitted, because they contain headers, bodies and queries.
 *
 * @param destination where to write log lines; standard output by default
 */
export function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  destination?: DestinationStream & { isTTY?: boolean },
): Logger {
  const options = {
    level: config.logLevel,
    base: { pid: process.pid },
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
  const output = destination ?? openStandardOutput();
  if (logFormatOf(config, destination ?? process.stdout) === 'text')
    return pino(options, { write: (line) => output.write(formatLogLine(line)) });
  return pino(options, output);
}

/** Control and format characters except newline and tab. They are replaced, because a terminal may interpret them as commands. */
const CONTROL_CHARACTER = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;

/**
 * Formats a JSON line of pino for a terminal: a request as `POST /posts/create 201 16 ms`, any other line as its message and
 * fields.
 */
function formatLogLine(json: string): string {
  const { level, time: _time, pid: _pid, reqId, msg, err, ...fields } = JSON.parse(json);
  const { method, route, status, ms } = fields;
  const text =
    msg === 'request'
      ? `${method} ${route ?? '(unknown path)'} ${status} ${Math.round(ms)} ms`
      : [msg, ...Object.entries({ ...fields, ...(reqId && { reqId }) }).map(formatField)].join(' ');
  const label = level === pino.levels.values.info ? '' : `${pino.levels.labels[level]}: `;
  const cause = err?.cause === undefined ? '' : `\nCause: ${err.cause}`;
  const error = err ? `\n${err.stack ?? `${err.type}: ${err.message}`}${cause}` : '';
  return `${label}${text}${error}`.replace(CONTROL_CHARACTER, '�').concat('\n');
}

const formatField = ([name, value]: [string, unknown]) =>
  `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
