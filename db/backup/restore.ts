import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { extract } from 'tar';
import { claimDataDirectory, type DataDirectory, OWNER_ONLY } from '../support/data-directory.js';
import { syncPath, syncTree } from '../support/durable-files.js';
import { checkArchive } from './archive.js';

/** Restoring over an installation would destroy it. */
export class DataDirectoryNotEmptyError extends Error {
  readonly code = 'data_directory_not_empty';
  constructor(path: string) {
    super(`${path} is not empty: a backup is restored into a new DATA_DIR`);
    this.name = 'DataDirectoryNotEmptyError';
  }
}

/** What a backup consists of. */
const PARTS = ['images', 'token-keys', 'postgres'] as const;

/**
 * Restores an archive into an empty data directory. Files go to a directory of their own first, whose presence keeps a
 * service from starting: an interrupted restore is not mistaken for an installation, and can be run again. Returns how many
 * files there were.
 *
 * @throws BadArchiveError before anything is written
 * @throws DataDirectoryInUse
 * @throws DataDirectoryNotEmptyError
 */
export async function restoreBackup(archive: string, path: string): Promise<number> {
  const root = resolve(path);
  // Before the claim, which would create it.
  if (!existsSync(join(root, 'restoring')) && (await isOccupied(root))) throw new DataDirectoryNotEmptyError(root);
  const files = await checkArchive(archive);
  const directory = await claimDataDirectory(root, { shared: false, restoring: true });
  try {
    // Another process may have used it before it was claimed.
    if (!existsSync(directory.restoring) && (await isOccupied(root))) throw new DataDirectoryNotEmptyError(root);
    await extractInto(directory, archive);
    return files;
  } finally {
    await directory.release();
  }
}

/** Whether there is anything that a restore would replace. */
async function isOccupied(root: string): Promise<boolean> {
  if (existsSync(join(root, 'postgres')) || existsSync(join(root, 'token-keys'))) return true;
  return (await readdir(join(root, 'images')).catch(() => [])).length > 0;
}

async function extractInto({ root, restoring }: DataDirectory, archive: string): Promise<void> {
  await mkdir(restoring, { recursive: true, mode: OWNER_ONLY });
  syncPath(root);
  // What an interrupted restore has left.
  for (const part of PARTS) {
    await rm(join(restoring, part), { recursive: true, force: true });
    await rm(join(root, part), { recursive: true, force: true });
  }
  await extract({
    file: archive,
    cwd: restoring,
    strict: true,
    filter: (path) => PARTS.some((part) => isIn(part, path)),
  });
  syncTree(restoring);
  for (const part of PARTS) {
    if (existsSync(join(restoring, part))) await rename(join(restoring, part), join(root, part));
  }
  syncPath(root);
  // From now on it is an installation.
  await rm(restoring, { recursive: true });
  syncPath(root);
}

const isIn = (part: string, path: string) => path === part || path.startsWith(`${part}/`);
