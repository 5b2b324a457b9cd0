import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Creates a directory atomically under a temporary name, unless it exists. An interrupted call starts over. */
export async function createDirectoryOnce(directory: string, fill: (partial: string) => Promise<void>): Promise<void> {
  const partial = `${directory}.partial`;
  await mkdir(dirname(directory), { recursive: true });
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial);
  await fill(partial);
  await rename(partial, directory);
}
