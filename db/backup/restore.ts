import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { extract } from 'tar';
import { claimDataDirectory, type DataDirectory, OWNER_ONLY_MODE } from '../support/data-directory.js';
import { syncPath, syncTree } from '../support/durable-files.js';
import { checkArchive } from './archive.js';

/** The target of a restore holds data, which the restore would overwrite. */
export class DataDirectoryNotEmptyError extends Error {
  readonly code = 'data_directory_not_empty';
  constructor(path: string) {
    super(`${path} is not empty: restore the backup into a new DATA_DIR`);
    this.name = 'DataDirectoryNotEmptyError';
  }
}

/** The top-level entries of a backup. */
const PARTS = ['images', 'token-keys', 'postgres'] as const;

/**
 * Restores an archive into an empty data directory. Returns the number of files.
 *
 * Files are first extracted to the directory `restoring`. While it exists, the service does not start, so an interrupted
 * restore is not mistaken for an installation, and can be run again.
 *
 * @throws BadArchiveError before anything is written
 * @throws DataDirectoryInUseError
 * @throws DataDirectoryNotEmptyError
 */
export async function restoreBackup(archive: string, path: string): Promise<number> {
  const root = resolve(path);
  // Checked before the claim, because a claim creates the directory.
  if (!existsSync(join(root, 'restoring')) && (await isOccupied(root))) throw new DataDirectoryNotEmptyError(root);
  const files = await checkArchive(archive);
  const directory = await claimDataDirectory(root, { shared: false, allowUnfinishedRestore: true });
  try {
    // Another process may have used the directory before the claim.
    if (!existsSync(directory.restoring) && (await isOccupied(root))) throw new DataDirectoryNotEmptyError(root);
    await extractInto(directory, archive);
    return files;
  } finally {
    await directory.release();
  }
}

/** Returns whether the directory holds data that a restore would replace. */
async function isOccupied(root: string): Promise<boolean> {
  if (existsSync(join(root, 'postgres')) || existsSync(join(root, 'token-keys'))) return true;
  return (await readdir(join(root, 'images')).catch(() => [])).length > 0;
}

async function extractInto({ root, restoring }: DataDirectory, archive: string): Promise<void> {
  await mkdir(restoring, { recursive: true, mode: OWNER_ONLY_MODE });
  syncPath(root);
  // An interrupted restore may have left files.
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
  // From here on, the service can start.
  await rm(restoring, { recursive: true });
  syncPath(root);
}

const isIn = (part: string, path: string) => path === part || path.startsWith(`${part}/`);
