import { closeSync, constants, existsSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/*
 * Durable file operations, which survive a power cut. The bytes of a file are durable after an `fsync` of the file. Its name is
 * durable only after an `fsync` of the directory. So a file is written under a temporary name, synced and renamed, and then its
 * directory is synced.
 */

/** The mode of new files: readable and writable only by the owner. */
const FILE_MODE = 0o600;

/** Syncs a directory, which makes the creation, renaming and removal of its files durable. */
export async function syncDirectory(path: string): Promise<void> {
  await withFile(path, 'r', (directory) => directory.sync());
}

/** Creates or replaces a file atomically. Only its owner may read it. */
export async function writeFileDurably(path: string, content: string): Promise<void> {
  const temporary = `${path}.new`;
  await withFile(temporary, 'w', (file) => file.writeFile(content));
  await moveFileDurably(temporary, path);
}

/**
 * Syncs a file, renames it, and syncs the directory of its new name. The new name never refers to a partial file.
 *
 * @param syncNames called after the file is renamed, to sync the directory of its new name
 */
export async function moveFileDurably(
  from: string,
  to: string,
  syncNames = () => syncDirectory(dirname(to)),
): Promise<void> {
  await withFile(from, 'r', (file) => file.sync());
  await rename(from, to);
  await syncNames();
}

/** Creates a directory and its missing parents. Syncs the parent of each new directory. */
export async function makeDirectoryDurably(path: string, mode?: number): Promise<void> {
  const parent = dirname(resolve(path));
  if (!existsSync(parent)) await makeDirectoryDurably(parent, mode);
  try {
    // Not with `recursive`: in a directory where nothing can be created, such as /proc, Node would then repeat the call forever.
    await mkdir(path, { mode });
  } catch (error) {
    // The trailing slash rejects a regular file.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && existsSync(`${path}/`)) return;
    throw error;
  }
  await syncDirectory(parent);
}

/** Syncs a directory tree. Blocks the thread. */
export function syncTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) syncTree(join(path, entry.name));
    else if (entry.isFile()) syncPath(join(path, entry.name));
  }
  syncPath(path);
}

/** Syncs one file or directory. Blocks the thread. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

async function withFile<Result>(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await open(path, flags, FILE_MODE);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
