import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, type FileHandle, open, opendir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { batched } from '../support/batch.js';
import { moveFileDurably, syncDirectory } from '../support/durable-files.js';
import { StoreUnavailableError } from '../support/errors.js';
import type { ImageStore } from './index.js';
import { readChunks, SMALL_IMAGE_BYTES, streamOf } from './small-images.js';

/** The name of the installation marker. The names of images never begin with a dot. */
export const MARKER_FILE = '.installation';

/** The size of one read of a stream. */
const READ_BYTES = 64 * 1024;

/** Stores images as files in a directory. Uploads must be on the same file system, because `put` renames their files. */
export function diskImages(directory: string): ImageStore {
  const path = (name: string) => join(directory, name);

  /** Syncs the directory, once for all calls that wait for it. */
  const syncNames = batched<void, void>(async (calls) => {
    await syncDirectory(directory);
    return calls.map(() => undefined);
  });

  /** Removes a file. Syncs the directory even if the file is missing: another call may have removed it, but not durably yet. */
  async function remove(name: string): Promise<void> {
    await rm(path(name)).catch((error) => undefinedIfMissing(error, directory));
    await syncNames().catch(throwUnavailable);
  }

  return {
    kind: 'disk',

    async put(name, from) {
      await moveFileDurably(from, path(name), syncNames).catch(throwUnavailable);
    },

    async get(name) {
      const file = await open(path(name)).catch((error) => undefinedIfMissing(error, directory));
      if (!file) return undefined;
      try {
        const { size } = await file.stat();
        if (size > SMALL_IMAGE_BYTES) return { size, stream: streamFile(file) };
        const chunks = await readChunks(file, size);
        await file.close();
        return { size, stream: streamOf(chunks) };
      } catch (error) {
        await file.close();
        return throwUnavailable(error);
      }
    },

    remove,

    async *list() {
      try {
        for await (const entry of await opendir(directory)) {
          if (entry.isFile() && !entry.name.startsWith('.')) yield entry.name;
        }
      } catch (error) {
        throwUnavailable(error);
      }
    },

    async check() {
      const { R_OK, W_OK, X_OK } = constants;
      // The trailing slash makes the check fail for a regular file.
      await access(`${directory}/`, R_OK | W_OK | X_OK).catch(throwUnavailable);
    },

    async claimedBy() {
      return readFile(path(MARKER_FILE), 'utf8').catch((error) => undefinedIfMissing(error, directory));
    },

    async claim(installation) {
      // The random name lets several processes make a claim at the same time.
      const draft = path(`${MARKER_FILE}.${randomUUID()}`);
      try {
        await writeFile(draft, installation);
        await moveFileDurably(draft, path(MARKER_FILE));
      } catch (error) {
        await rm(draft).catch(() => undefined);
        throwUnavailable(error);
      }
    },

    async release() {
      await remove(MARKER_FILE);
    },

    async close() {},
  };
}

function throwUnavailable(cause: unknown): never {
  throw new StoreUnavailableError('images', { cause });
}

/**
 * Handles the error of a file operation. Returns undefined if only the file is missing. Throws StoreUnavailableError for any
 * other error, and if the directory is missing too, for example because it is not mounted.
 */
async function undefinedIfMissing(cause: NodeJS.ErrnoException, directory: string): Promise<undefined> {
  const isMissing = cause.code === 'ENOENT' && existsSync(directory);
  if (!isMissing) throwUnavailable(cause);
}

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
