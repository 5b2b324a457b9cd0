import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { StoreUnavailableError } from '../support/errors.js';

/** The size of the memory buffer, and of one read from the file. */
const BUFFER_BYTES = 256 * 1024;

interface Options {
  /** The directory of the spool file, which is unlinked as soon as it is open. */
  directory: string;
  /** How long the store may send nothing. */
  timeoutMs: number;
}

/**
 * Returns a stream of the same bytes that drains the store's connection at full speed, so that a slow client does not occupy
 * it. Bytes that are not yet read wait in memory, and beyond that in an unlinked temporary file, which the operating system
 * deletes when the stream or the process ends.
 *
 * `receive` copies from the store into memory while the client keeps up, and into the file otherwise. `serve` copies from the
 * file to the client. The stream fails with StoreUnavailableError if the store sends nothing for `timeoutMs`.
 */
export function bufferedBody(body: Readable, { directory, timeoutMs }: Options): Readable {
  let file: FileHandle | undefined;
  // Positions in the file.
  let [written, sent] = [0, 0];
  // Initially true: the memory buffer is empty.
  let hasDemand = true;
  let [serving, complete, ended] = [false, false, false];

  const stream = new Readable({
    highWaterMark: BUFFER_BYTES,
    read() {
      hasDemand = true;
      void serve();
    },
    destroy(error, done) {
      clearTimeout(idleTimer);
      body.destroy();
      // Closing waits for pending reads and writes.
      Promise.resolve(file?.close()).then(
        () => done(error),
        () => done(error),
      );
    },
  });
  const fail = (cause: unknown) => void stream.destroy(unavailable(cause));

  let writing = false;
  let received = 0;
  const idleTimer = setTimeout(() => {
    const before = received;
    // If the event loop was blocked, more bytes may have arrived already.
    setImmediate(() => {
      if (writing || received > before) idleTimer.refresh();
      else fail(new Error('the store stopped sending'));
    });
  }, timeoutMs);

  async function serve(): Promise<void> {
    if (serving || stream.destroyed) return;
    serving = true;
    try {
      while (file && hasDemand && sent < written) {
        const length = Math.min(BUFFER_BYTES, written - sent);
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, sent);
        sent += bytesRead;
        hasDemand = stream.push(buffer.subarray(0, bytesRead));
      }
      if (complete && !ended && sent === written) {
        ended = true;
        stream.push(null);
      }
    } catch (error) {
      fail(error);
    } finally {
      serving = false;
    }
  }

  async function receive(): Promise<void> {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      received += chunk.length;
      idleTimer.refresh();
      if (hasDemand && !serving && sent === written) {
        hasDemand = stream.push(chunk);
        continue;
      }
      writing = true;
      file ??= await openUnnamed(directory);
      // If the stream was destroyed meanwhile, `destroy` had no file to close.
      if (stream.destroyed) return file.close();
      await file.appendFile(chunk);
      written += chunk.length;
      writing = false;
      idleTimer.refresh();
      if (hasDemand) void serve();
    }
    clearTimeout(idleTimer);
    complete = true;
    void serve();
  }

  // An error without another listener would end the process.
  stream.on('error', () => undefined);
  receive().catch(fail);
  return stream;
}

async function openUnnamed(directory: string): Promise<FileHandle> {
  const path = join(directory, randomUUID());
  const file = await open(path, 'wx+');
  await rm(path);
  return file;
}

const unavailable = (cause: unknown) =>
  cause instanceof StoreUnavailableError ? cause : new StoreUnavailableError('images', { cause });
