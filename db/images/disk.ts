import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, open, opendir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { moveFileDurably, syncDirectory } from '../support/durable-files.js';
import { StoreUnavailableError } from '../support/errors.js';
import type { ImageStore } from './index.js';

/** Whose images these are. No image's name begins with a dot. */
const MARKER_FILE = '.installation';

/** Images as files of one directory, on the same file system as the uploads that they come from. */
export function diskImages(directory: string): ImageStore {
  const path = (name: string) => join(directory, name);

  /** Once this has returned, a power cut cannot bring the file back. One that is missing may have been removed just now. */
  async function remove(name: string): Promise<void> {
    await rm(path(name)).catch((error) => missing(error, directory));
    await syncDirectory(directory).catch(unavailable);
  }

  return {
    kind: 'disk',

    async put(name, from) {
      await moveFileDurably(from, path(name)).catch(unavailable);
    },

    async get(name) {
      const file = await open(path(name)).catch((error) => missing(error, directory));
      if (!file) return undefined;
      try {
        const { size } = await file.stat();
        return { size, stream: file.createReadStream() };
      } catch (error) {
        await file.close();
        return unavailable(error);
      }
    },

    remove,

    async *list() {
      try {
        for await (const entry of await opendir(directory)) {
          if (entry.isFile() && !entry.name.startsWith('.')) yield entry.name;
        }
      } catch (error) {
        unavailable(error);
      }
    },

    async check() {
      const { R_OK, W_OK, X_OK } = constants;
      // With the slash, a file in the directory's place does not do.
      await access(`${directory}/`, R_OK | W_OK | X_OK).catch(unavailable);
    },

    async claimedBy() {
      return readFile(path(MARKER_FILE), 'utf8').catch((error) => missing(error, directory));
    },

    async claim(installation) {
      // Several processes may do this at once.
      const draft = path(`${MARKER_FILE}.${randomUUID()}`);
      try {
        await writeFile(draft, installation);
        await moveFileDurably(draft, path(MARKER_FILE));
      } catch (error) {
        await rm(draft).catch(() => undefined);
        unavailable(error);
      }
    },

    async release() {
      await remove(MARKER_FILE);
    },

    async close() {},
  };
}

function unavailable(cause: unknown): never {
  throw new StoreUnavailableError('images', { cause });
}

/** A missing file is an answer; a missing directory is a store that is away. */
async function missing(cause: NodeJS.ErrnoException, directory: string): Promise<undefined> {
  const there = cause.code === 'ENOENT' && existsSync(directory);
  if (!there) unavailable(cause);
}
