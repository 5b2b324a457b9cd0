import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './index.js';

/** The maximum size of the lines that wait while standard output accepts none. Further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * The maximum size of a write of several lines. Several workers may write to one pipe, and Linux does not mix the bytes of
 * different writes up to this size (`PIPE_BUF`).
 */
const MAX_WRITE_BYTES = 4096;

/** How long the exit of the process waits while standard output accepts no lines. */
const MAX_EXIT_DELAY_MS = 1000;

const EXIT_RETRY_MS = 20;

/**
 * Opens standard output for log lines, which are written in the background. If a line cannot be written, for example because
 * the disk is full, the service continues, and the next line repeats the write.
 */
function openStandardOutput() {
  const output = pino.destination({
    dest: 1,
    sync: false,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: MAX_WRITE_BYTES,
  });
  const ignore = () => undefined;
  // Ignores failures of `console.log`, which writes to the same file.
  process.stdout.on('error', ignore);
  // pino calls this when the process exits. The original method would repeat a failing write forever.
  output.flushSync = () => writeAtExit((output as unknown as { _bufs: string[] })._bufs.splice(0));
  return output.on('error', ignore);
}

/** Writes the lines that are still waiting when the process exits, unless that fails. */
function writeAtExit(waiting: readonly string[]): void {
  const deadline = performance.now() + MAX_EXIT_DELAY_MS;
  for (const lines of waiting) {
    while (!tryWrite(lines)) {
      if (performance.now() > deadline) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_RETRY_MS);
    }
  }
}

/** Returns false if standard output accepts no bytes at the moment. */
function tryWrite(lines: string): boolean {
  try {
    writeSync(1, lines);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  }
}

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
  const format = logFormat ?? ((destination ?? process.stdout).isTTY ? 'text' : 'json');
  const output = destination ?? openStandardOutput();
  if (format === 'text') return pino(options, { write: (line) => output.write(formatLogLine(line)) });
  return pino(options, output);
}

/** Control characters except newline and tab. They are replaced, because a terminal may interpret them as commands. */
const CONTROL_CHARACTER = /[^\P{Cc}\n\t]/gu;

/**
 * Formats a JSON line of pino for a terminal: a request as `POST /posts/create 201 16 ms`, any other line as its message and
 * fields.
 */
function formatLogLine(json: string): string {
  const { level, time: _, reqId, msg, err, ...fields } = JSON.parse(json);
  const { method, route, status, ms } = fields;
  const text =
    msg === 'request'
      ? `${method} ${route ?? '(unknown path)'} ${status} ${Math.round(ms)} ms`
      : [msg, ...Object.entries({ ...fields, ...(reqId && { reqId }) }).map(formatField)].join(' ');
  const label = level === pino.levels.values.info ? '' : `${pino.levels.labels[level]}: `;
  const cause = err?.cause === undefined ? '' : `\nCause: ${err.cause}`;
  return `${label}${text}${err ? `\n${err.stack}${cause}` : ''}`.replace(CONTROL_CHARACTER, '�').concat('\n');
}

const formatField = ([name, value]: [string, unknown]) =>
  `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
