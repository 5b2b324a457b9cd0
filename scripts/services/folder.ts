import { closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { waitForLock } from 'fs-native-extensions';
import { CommandError } from '../support/command-error.js';

/** Returns a path in the folder for all downloads and data: `SERVICES_DIR`, or `.services` in the working directory. */
export function folder(...path: string[]): string {
  return join(resolve(process.env.SERVICES_DIR || '.services'), ...path);
}

const LOCK_FILE = 'lock';

/**
 * Runs `change` with an exclusive lock on the folder, which the operating system releases when the process ends.
 *
 * @throws CommandError if the folder contains files but no lock file, so that this command did not create it
 */
export async function withFolderLock<T>(change: () => Promise<T>): Promise<T> {
  mkdirSync(folder(), { recursive: true });
  const entries = readdirSync(folder());
  // `down --purge` deletes the folder, so never adopt one with other files.
  if (entries.length > 0 && !entries.includes(LOCK_FILE)) {
    throw new CommandError(`${folder()} contains other files: SERVICES_DIR must be an empty or new folder`);
  }
  const lock = openSync(folder(LOCK_FILE), 'a');
  try {
    await waitForLock(lock);
    return await change();
  } finally {
    closeSync(lock);
  }
}
