import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { StoreUnavailableError } from '../support/errors.js';

/** The size of one read. */
const READ_BYTES = 64 * 1024;

/** Returns a stream of an open image file. It closes the file, and fails with StoreUnavailableError if a read fails. */
export function streamFile(file: FileHandle): Readable {
  const stream = new Readable({
    highWaterMark: READ_BYTES,
    read(length) {
      file.read(Buffer.allocUnsafe(length), 0, length).then(
        ({ bytesRead, buffer }) => this.push(bytesRead > 0 ? buffer.subarray(0, bytesRead) : null),
        (cause) => this.destroy(new StoreUnavailableError('images', { cause })),
      );
    },
    destroy(error, done) {
      file.close().then(
        () => done(error),
        () => done(error),
      );
    },
  });
  // Without a listener, an error of the stream would end the process.
  return stream.on('error', () => undefined);
}
