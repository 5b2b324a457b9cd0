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
  /** How long the store may send nothing, in milliseconds. */
  timeoutMs: number;
}

/**
 * Returns a stream of the same bytes that drains the store's connection at full speed, so that a slow client does not occupy
 * the connection. Unread bytes wait in memory, and beyond that in an unlinked temporary file, which the operating system
 * deletes when the stream or the process ends.
 *
 * `receive` copies from the store into memory while the client keeps up, and into the file otherwise. `serve` copies from the
 * file to the client, and ends the stream. The stream fails with StoreUnavailableError if the store sends nothing for
 * `timeoutMs`, or if reading from it or using the file fails.
 */
export function bufferedBody(body: Readable, { directory, timeoutMs }: Options): Readable {
  let file: FileHandle | undefined;
  let fileBytesWritten = 0;
  let fileBytesSent = 0;
  /** Whether the memory buffer has room. */
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
      // Closing waits for pending reads and writes.
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
    // If the event loop was blocked, more bytes may have arrived already.
    setImmediate(() => {
      if (isWriting || receivedBytes > receivedBefore) idleTimer.refresh();
      else fail(new Error('the store stopped sending'));
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
      // If the stream was destroyed meanwhile, `destroy` had no file to close.
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

const unavailableError = (cause: unknown) =>
  cause instanceof StoreUnavailableError ? cause : new StoreUnavailableError('images', { cause });
