import { closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { waitForLock } from 'fs-native-extensions';
import { ServicesError } from './errors.js';

/** The one folder that holds everything fetched and written: `SERVICES_DIR`, or `.services` in the working directory. */
export function folder(...path: string[]): string {
  return join(resolve(process.env.SERVICES_DIR || '.services'), ...path);
}

const LOCK = 'lock';

/**
 * Runs one change of the folder at a time, whoever asks for it. The lock is the operating system's and ends with the
 * process.
 *
 * @throws ServicesError when the folder holds what is not ours
 */
export async function alone<T>(change: () => Promise<T>): Promise<T> {
  mkdirSync(folder(), { recursive: true });
  const found = readdirSync(folder());
  // `down --purge` deletes the folder, so that it had better be ours from the start.
  if (found.length > 0 && !found.includes(LOCK)) {
    throw new ServicesError(
      `${folder()} holds other things: SERVICES_DIR must name a folder that is empty or not there`,
    );
  }
  const lock = openSync(folder(LOCK), 'a');
  try {
    await waitForLock(lock);
    return await change();
  } finally {
    closeSync(lock);
  }
}
