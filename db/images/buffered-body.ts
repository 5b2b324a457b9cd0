import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { StoreUnavailableError } from '../support/errors.js';

/** How much of a body waits in memory for its reader, and how much of a file is read at a time, in bytes. */
const MEMORY_BYTES = 256 * 1024;

interface Options {
  /** Where a body is kept while its reader is slower than the store. The file has no name there. */
  directory: string;
  /** How long the store may send nothing, in milliseconds. */
  timeoutMs: number;
}

/**
 * Returns the same body, but takes it from the store as fast as that sends: the store's connection is free again before a
 * slow reader is done. What the reader has not taken yet waits in memory and, beyond that, in a file that is unlinked as
 * soon as it is open, so that it goes with whatever ends first.
 */
export function bufferedBody(body: Readable, { directory, timeoutMs }: Options): Readable {
  let file: FileHandle | undefined;
  let [written, sent] = [0, 0];
  // Before the reader begins, there is room in memory.
  let wanted = true;
  let [serving, complete, ended] = [false, false, false];

  const stream = new Readable({
    highWaterMark: MEMORY_BYTES,
    read() {
      wanted = true;
      void serve();
    },
    destroy(error, done) {
      clearTimeout(silence);
      body.destroy();
      // What is being read or written ends first.
      Promise.resolve(file?.close()).then(
        () => done(error),
        () => done(error),
      );
    },
  });
  const fail = (cause: unknown) => void stream.destroy(unavailable(cause));

  let writing = false;
  let received = 0;
  const silence = setTimeout(() => {
    const before = received;
    // Should this process have been kept from running, more may have arrived already.
    setImmediate(() => {
      if (writing || received > before) silence.refresh();
      else fail(new Error('the store has stopped sending'));
    });
  }, timeoutMs);

  /** Gives the reader what waits in the file, for as long as it takes any. */
  async function serve(): Promise<void> {
    if (serving || stream.destroyed) return;
    serving = true;
    try {
      while (file && wanted && sent < written) {
        const length = Math.min(MEMORY_BYTES, written - sent);
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, sent);
        sent += bytesRead;
        wanted = stream.push(buffer.subarray(0, bytesRead));
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

  async function drain(): Promise<void> {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      received += chunk.length;
      silence.refresh();
      if (wanted && !serving && sent === written) {
        wanted = stream.push(chunk);
        continue;
      }
      writing = true;
      file ??= await openUnnamed(directory);
      // A reader that left meanwhile has found no file to close.
      if (stream.destroyed) return file.close();
      await file.appendFile(chunk);
      written += chunk.length;
      writing = false;
      silence.refresh();
      if (wanted) void serve();
    }
    clearTimeout(silence);
    complete = true;
    void serve();
  }

  // An error when nobody listens any more, or does not yet, must not end the process.
  stream.on('error', () => undefined);
  drain().catch(fail);
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
