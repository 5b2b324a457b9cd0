import { writeSync } from 'node:fs';

/*
 * Writes log lines to standard output, all lines of an event loop iteration together. A full pipe does not delay requests,
 * because writes to it fail immediately and are repeated later.
 *
 * pino's own destination is not used, because its flush at exit repeats a failing write forever, and it loses or reorders lines
 * if a write is in progress at that moment.
 */

/** The maximum size of the lines that wait while standard output accepts none. Further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * The maximum size of a write of several lines. Several workers may write to one pipe, and Linux does not mix the bytes of
 * different writes up to this size (`PIPE_BUF`).
 */
const MAX_WRITE_BYTES = 4096;

/** The wait before a write to a full pipe is repeated. A pipe usually holds 64 KiB, so this allows 6 MiB per second. */
const FULL_RETRY_MS = 10;

/** The wait before another failed write is repeated, for example because the disk is full. */
const RETRY_MS = 100;

/** How long the exit of the process waits for the reader of a full pipe. */
const MAX_EXIT_WAIT_MS = 1000;

const EXIT_RETRY_MS = 5;

const STDOUT = 1;

/** The private handle of a stream that is a pipe or a socket. */
interface WithHandle {
  _handle?: { setBlocking?(isBlocking: boolean): void };
}

/** Opens standard output as a destination of pino. */
export function openStandardOutput(): { write(line: string): void } {
  /** The waiting lines, in chunks for one write each. */
  const chunks: string[] = [];
  let lastChunkBytes = 0;
  let waitingBytes = 0;
  /** The chunk that is being written, or the rest of it. */
  let current: Buffer = Buffer.alloc(0);
  let isScheduled = false;
  let exitDeadline: number | undefined;
  const handle = process.stdout.isTTY ? undefined : (process.stdout as WithHandle)._handle;

  /** Writes the waiting lines until a write fails. Returns the code of the failure, or undefined. */
  function writeWaiting(): string | undefined {
    try {
      for (;;) {
        if (current.length === 0) current = Buffer.from(chunks.shift() ?? '');
        if (current.length === 0) return undefined;
        // Node has made the pipe non-blocking. A worker that shares it makes it blocking again when it exits.
        handle?.setBlocking?.(false);
        const written = writeSync(STDOUT, current);
        current = current.subarray(written);
        waitingBytes -= written;
      }
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? 'unknown';
    }
  }

  function writeNext(): void {
    const failure = writeWaiting();
    isScheduled = failure !== undefined;
    if (failure) setTimeout(writeNext, failure === 'EAGAIN' ? FULL_RETRY_MS : RETRY_MS).unref();
  }

  function writeAtExit(): void {
    exitDeadline ??= performance.now() + MAX_EXIT_WAIT_MS;
    while (writeWaiting() === 'EAGAIN' && performance.now() < exitDeadline)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_RETRY_MS);
  }

  process.on('exit', writeAtExit);
  // Ignores failures of `console.log`, which writes to the same file.
  process.stdout.on('error', () => undefined);

  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (waitingBytes + bytes > MAX_WAITING_BYTES) return;
      waitingBytes += bytes;
      if (chunks.length > 0 && lastChunkBytes + bytes <= MAX_WRITE_BYTES) {
        chunks[chunks.length - 1] += line;
        lastChunkBytes += bytes;
      } else {
        chunks.push(line);
        lastChunkBytes = bytes;
      }
      // During the exit, other handlers may still log.
      if (exitDeadline !== undefined) return writeAtExit();
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(writeNext);
    },
  };
}
