import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { StoreUnavailableError } from '../support/errors.js';

/** The size at which the memory buffer counts as full, and the maximum size of one read from the file. */
const BUFFER_BYTES = 256 * 1024;

interface Options {
  /** The directory for the temporary file, which is unlinked as soon as it is open. */
  directory: string;
  /** How long the store may send nothing. */
  timeoutMs: number;
}

/**
 * Returns a stream of the same bytes as `body`. It reads `body` at full speed, so that a slow client does not occupy a
 * connection to the store. Bytes that the client has not read yet wait in a buffer in memory. When it is full, the bytes that
 * follow are written to an unlinked temporary file, which the operating system deletes when the stream or the process ends.
 *
 * `receive` copies from the store to memory while the client keeps up, and to the file otherwise. `serve` copies from the file
 * to the client, and ends the stream.
 *
 * The stream fails with StoreUnavailableError if the store sends nothing for `timeoutMs`, if reading from the store fails,
 * or if the file cannot be used.
 */
export function bufferedBody(body: Readable, { directory, timeoutMs }: Options): Readable {
  let file: FileHandle | undefined;
  let fileBytesWritten = 0;
  let fileBytesSent = 0;
  /** Whether the memory buffer has room, so that more can be pushed. */
  let hasDemand = true;
  let isServing = false;
  let isReceived = false;
  let hasEnded = false;

  const stream = new Readable({
    highWaterMark: BUFFER_BYTES,
    read() {
      hasDemand = true;
      void serve();
    },
    destroy(error, done) {
      clearTimeout(idleTimer);
      body.destroy();
      // `close` waits for pending reads and writes of the file.
      Promise.resolve(file?.close()).then(
        () => done(error),
        () => done(error),
      );
    },
  });
  const fail = (cause: unknown) => void stream.destroy(unavailableError(cause));

  let isWriting = false;
  let receivedBytes = 0;
  const idleTimer = setTimeout(() => {
    const receivedBefore = receivedBytes;
    // If the event loop was blocked, bytes may have arrived that were not processed yet: check after the next I/O phase.
    setImmediate(() => {
      if (isReceived) return;
      if (isWriting || receivedBytes > receivedBefore) idleTimer.refresh();
      else fail(new Error('The store stopped sending'));
    });
  }, timeoutMs);

  async function serve(): Promise<void> {
    if (isServing || stream.destroyed) return;
    isServing = true;
    try {
      while (file && hasDemand && fileBytesSent < fileBytesWritten) {
        const length = Math.min(BUFFER_BYTES, fileBytesWritten - fileBytesSent);
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, fileBytesSent);
        fileBytesSent += bytesRead;
        hasDemand = stream.push(buffer.subarray(0, bytesRead));
      }
      if (isReceived && !hasEnded && fileBytesSent === fileBytesWritten) {
        hasEnded = true;
        stream.push(null);
      }
    } catch (error) {
      fail(error);
    } finally {
      isServing = false;
    }
  }

  async function receive(): Promise<void> {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      receivedBytes += chunk.length;
      idleTimer.refresh();
      if (hasDemand && !isServing && fileBytesSent === fileBytesWritten) {
        hasDemand = stream.push(chunk);
        continue;
      }
      isWriting = true;
      file ??= await openUnnamed(directory);
      // The stream was destroyed while the file was being opened, so `destroy` could not close it.
      if (stream.destroyed) return file.close();
      await file.appendFile(chunk);
      fileBytesWritten += chunk.length;
      isWriting = false;
      idleTimer.refresh();
      if (hasDemand) void serve();
    }
    clearTimeout(idleTimer);
    isReceived = true;
    void serve();
  }

  // Without a listener, an error of the stream would end the process.
  stream.on('error', () => undefined);
  receive().catch(fail);
  return stream;
}

/** Creates and opens a file, and removes its name. */
async function openUnnamed(directory: string): Promise<FileHandle> {
  const path = join(directory, randomUUID());
  const file = await open(path, 'wx+');
  await rm(path);
  return file;
}

const unavailableError = (cause: unknown) =>
  cause instanceof StoreUnavailableError ? cause : new StoreUnavailableError('images', { cause });
