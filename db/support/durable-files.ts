import { closeSync, constants, type Dirent, fsyncSync, openSync, readdirSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/**
 * Files that a power cut neither loses nor tears. A file's bytes are on the disk once the file is synced, and its name only
 * once its directory is: each is an `fsync` of its own.
 */

/** The mode of a file that is created. */
const OWNER_ONLY = 0o600;

/** Forces the entries of a directory to the disk: files that were created, renamed or removed there. */
export async function syncDirectory(path: string): Promise<void> {
  await withFile(path, 'r', (directory) => directory.sync());
}

/** Creates a file, or replaces one as a whole. Only its owner may read it. */
export async function writeFileDurably(path: string, content: string): Promise<void> {
  const draft = `${path}.new`;
  await withFile(draft, 'w', (file) => file.writeFile(content));
  await moveFileDurably(draft, path);
}

/** Renames a file once its bytes are on the disk, so that nothing but the whole file ever has the new name. */
export async function moveFileDurably(from: string, to: string): Promise<void> {
  await withFile(from, 'r', (file) => file.sync());
  await rename(from, to);
  await syncDirectory(dirname(to));
}

/** Creates a directory and its missing parents. */
export async function makeDirectoryDurably(path: string, mode?: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode });
  if (first === undefined) return;
  const above = dirname(resolve(first));
  for (let parent = dirname(resolve(path)); parent !== above; parent = dirname(parent)) await syncDirectory(parent);
  await syncDirectory(above);
}

/** Forces a directory with all that it contains to the disk. For a thread that may block. */
export function syncTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) syncEntry(join(path, entry.name), entry);
  syncPath(path);
}

/** Forces one file or directory to the disk. For a thread that may block. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncEntry(path: string, entry: Dirent): void {
  if (entry.isDirectory()) syncTree(path);
  else if (entry.isFile()) syncPath(path);
}

async function withFile<Result>(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await open(path, flags, OWNER_ONLY);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
