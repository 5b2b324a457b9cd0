import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { extract } from 'tar';
import { claimDataDirectory, type DataDirectory, OWNER_ONLY_MODE, pathsIn } from '../support/data-directory.js';
import { syncPath, syncTree } from '../support/durable-files.js';
import { checkArchive } from './archive.js';

/** The target directory of a restore contains data that the restore would overwrite. */
export class DataDirectoryNotEmptyError extends Error {
  readonly code = 'data_directory_not_empty';
  constructor(path: string) {
    super(`${path} is not empty: restore the backup into a new DATA_DIR`);
    this.name = 'DataDirectoryNotEmptyError';
  }
}

/** The top-level files and directories of a backup, except the manifest. */
const TOP_LEVEL_NAMES = ['images', 'token-keys', 'postgres'] as const;

/**
 * Restores an archive into an empty data directory. Returns the number of files.
 *
 * Files are first extracted to the subdirectory `restoring`. The service does not start while this directory exists. So an
 * interrupted restore is not mistaken for a complete installation, and it can be run again.
 *
 * @throws BadArchiveError, before anything is written
 * @throws DataDirectoryInUseError
 * @throws DataDirectoryNotEmptyError
 */
export async function restoreBackup(archive: string, path: string): Promise<number> {
  // Checked before the claim, which creates the directory.
  await requireVacant(path);
  const files = await checkArchive(archive);
  const directory = await claimDataDirectory(path, { shared: false, allowUnfinishedRestore: true });
  try {
    // Checked again: another process may have used the directory before the claim.
    await requireVacant(path);
    await extractInto(directory, archive);
    return files;
  } finally {
    await directory.release();
  }
}

/** Throws DataDirectoryNotEmptyError if the directory holds data that a restore would replace. */
async function requireVacant(path: string): Promise<void> {
  const { root, restoring, postgres, tokenKeys, images } = pathsIn(path);
  if (existsSync(restoring)) return;
  const isOccupied =
    existsSync(postgres) || existsSync(tokenKeys) || (await readdir(images).catch(() => [])).length > 0;
  if (isOccupied) throw new DataDirectoryNotEmptyError(root);
}

/** Extracts an archive to `restoring`, syncs the files, and then moves them into place. */
async function extractInto({ root, restoring }: DataDirectory, archive: string): Promise<void> {
  await mkdir(restoring, { recursive: true, mode: OWNER_ONLY_MODE });
  syncPath(root);
  // Removes what an interrupted restore may have left.
  for (const name of TOP_LEVEL_NAMES) {
    await rm(join(restoring, name), { recursive: true, force: true });
    await rm(join(root, name), { recursive: true, force: true });
  }
  await extract({
    file: archive,
    cwd: restoring,
    strict: true,
    filter: (path) => TOP_LEVEL_NAMES.some((name) => path === name || path.startsWith(`${name}/`)),
  });
  syncTree(restoring);
  for (const name of TOP_LEVEL_NAMES) {
    if (existsSync(join(restoring, name))) await rename(join(restoring, name), join(root, name));
  }
  syncPath(root);
  // Once this directory is removed, the service can start.
  await rm(restoring, { recursive: true });
  syncPath(root);
}
