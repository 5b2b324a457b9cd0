import { write as writeInBackground, writeSync } from 'node:fs';

/*
 * Writes log lines to standard output in the background, so that a slow reader does not delay requests.
 *
 * pino's own destination is not used, because its flush at exit repeats a failing write forever, and loses the lines of a write
 * that is about to be repeated.
 */

/** The maximum size of the lines that wait while standard output accepts none. Further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * The maximum size of a write of several lines. Several workers may write to one pipe, and Linux does not mix the bytes of
 * different writes up to this size (`PIPE_BUF`).
 */
const MAX_WRITE_BYTES = 4096;

/** The wait before a failed write is repeated, for example because the reader is slow or the disk is full. */
const RETRY_MS = 100;

/** How long the exit of the process waits for a reader that reads nothing. */
const MAX_EXIT_WAIT_MS = 1000;

const EXIT_RETRY_MS = 20;

const STDOUT = 1;

/** Opens standard output as a destination of pino. */
export function openStandardOutput(): { write(line: string): void } {
  /** The waiting lines, in chunks for one write each. */
  const chunks: string[] = [];
  let lastChunkBytes = 0;
  let waitingBytes = 0;
  /** The bytes to write next: a chunk, or the rest of one. Empty if no chunk has been started. */
  let current: Buffer = Buffer.alloc(0);
  let isWriting = false;
  let retry: NodeJS.Timeout | undefined;

  /** Returns the bytes to write next. Empty if no line is waiting. */
  function peek(): Buffer {
    if (current.length === 0) current = Buffer.from(chunks.shift() ?? '');
    return current;
  }

  function advance(bytes: number): void {
    current = current.subarray(bytes);
    waitingBytes -= bytes;
  }

  function writeNext(): void {
    retry = undefined;
    const bytes = peek();
    if (bytes.length === 0) return;
    isWriting = true;
    writeInBackground(STDOUT, bytes, (error, written) => {
      isWriting = false;
      if (error) {
        retry = setTimeout(writeNext, RETRY_MS).unref();
        return;
      }
      advance(written);
      writeNext();
    });
  }

  /** Writes the waiting lines, until a write fails or the reader reads nothing for too long. */
  function writeAtExit(): void {
    // A write in the background completes before the process ends.
    if (isWriting) advance(current.length);
    let deadline = performance.now() + MAX_EXIT_WAIT_MS;
    for (let bytes = peek(); bytes.length > 0; bytes = peek()) {
      try {
        advance(writeSync(STDOUT, bytes));
        deadline = performance.now() + MAX_EXIT_WAIT_MS;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > deadline) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_RETRY_MS);
      }
    }
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
      if (!isWriting && !retry) writeNext();
    },
  };
}
