import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { extract } from 'tar';
import { claimDataDirectory, OWNER_ONLY_MODE } from '../support/data-directory.js';
import { syncPath, syncTree } from '../support/durable-files.js';
import { checkArchive } from './archive.js';

/** The target directory of a restore contains data that the restore would overwrite. */
class DataDirectoryNotEmptyError extends Error {
  readonly code = 'data_directory_not_empty';
  override readonly name = 'DataDirectoryNotEmptyError';
}

/** The top-level files and directories of a backup, except the manifest. */
const TOP_LEVEL_NAMES = ['images', 'token-keys', 'postgres'];

/**
 * Restores an archive into an empty data directory. Returns the number of files.
 *
 * Files are first extracted to the subdirectory `restoring`, synced, and then moved into place. The service does not start
 * while this directory exists. So an interrupted restore is not mistaken for a complete installation, and it can be run again.
 *
 * @throws BadArchiveError before anything is written; DataDirectoryInUseError, DataDirectoryNotEmptyError
 */
export async function restoreBackup(archive: string, path: string): Promise<number> {
  const fileCount = await checkArchive(archive);
  const directory = await claimDataDirectory(path, { shared: false, allowUnfinishedRestore: true });
  const { root, restoring, postgres, tokenKeys, images } = directory;
  try {
    const isOccupied = existsSync(postgres) || existsSync(tokenKeys) || (await readdir(images)).length > 0;
    if (isOccupied && !existsSync(restoring))
      throw new DataDirectoryNotEmptyError(`${root} is not empty: restore the backup into a new DATA_DIR`);
    await mkdir(restoring, { recursive: true, mode: OWNER_ONLY_MODE });
    syncPath(root);
    // Removes what an interrupted restore may have left.
    for (const name of TOP_LEVEL_NAMES) {
      await rm(join(restoring, name), { recursive: true, force: true });
      await rm(join(root, name), { recursive: true, force: true });
    }
    await extract({ file: archive, cwd: restoring, strict: true });
    syncTree(restoring);
    for (const name of TOP_LEVEL_NAMES) {
      if (existsSync(join(restoring, name))) await rename(join(restoring, name), join(root, name));
    }
    syncPath(root);
    // Once this directory is removed, the service can start.
    await rm(restoring, { recursive: true });
    syncPath(root);
    return fileCount;
  } finally {
    await directory.release();
  }
}
