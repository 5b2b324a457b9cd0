import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a directory atomically: fills it under a temporary name, then renames it. The directory must not exist yet. An
 * interrupted call can be repeated.
 */
export async function createDirectoryAtomically(
  directory: string,
  fill: (partial: string) => Promise<void>,
): Promise<void> {
  const partial = `${directory}.partial`;
  await mkdir(dirname(directory), { recursive: true });
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial);
  await fill(partial);
  await rename(partial, directory);
}
