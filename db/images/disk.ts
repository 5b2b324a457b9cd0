import { existsSync } from 'node:fs';
import { type FileHandle, open, opendir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailable } from '../unavailable.js';
import type { ImageStore } from './index.js';

/** Images as files of one directory, on the same file system as the uploads that they come from. */
export function diskImages(directory: string): ImageStore {
  return {
    async put(name, path) {
      try {
        await using(await open(path), (file) => file.sync());
        await rename(path, join(directory, name));
        await using(await open(directory), (file) => file.sync());
      } catch (cause) {
        throw new StoreUnavailable('images', { cause });
      }
    },

    async get(name) {
      const file = await open(join(directory, name)).catch((error) => missing(error, directory));
      if (!file) return undefined;
      const { size } = await file.stat();
      return { size, stream: file.createReadStream() };
    },

    async remove(name) {
      await rm(join(directory, name)).catch((error) => missing(error, directory));
    },

    async *list() {
      for await (const entry of await opendir(directory)) yield entry.name;
    },
  };
}

async function using(file: FileHandle, use: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(file);
  } finally {
    await file.close();
  }
}

/** A missing file is an answer; a missing directory is a store that is away. */
async function missing(cause: NodeJS.ErrnoException, directory: string): Promise<undefined> {
  const there = cause.code === 'ENOENT' && existsSync(directory);
  if (!there) throw new StoreUnavailable('images', { cause });
}
