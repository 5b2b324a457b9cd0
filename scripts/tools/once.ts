import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a directory unless it is there. It appears when it is complete: what was cut short is begun anew. */
export async function makeOnce(directory: string, make: (partial: string) => Promise<void>): Promise<void> {
  const partial = `${directory}.partial`;
  await mkdir(dirname(directory), { recursive: true });
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial);
  await make(partial);
  await rename(partial, directory);
}
