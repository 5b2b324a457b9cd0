import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageHolds } from '../images/holds.js';
import type { Database } from '../postgres/index.js';
import type { Maintenance } from '../postgres/maintenance.js';
import type { DataDirectory } from '../support/data-directory.js';
import { type ArchiveEntry, writeArchive } from './archive.js';
import { startBaseBackup } from './base-backup.js';
import { copyFile } from './files.js';

interface Sources {
  db: Database;
  directory: DataDirectory;
  /** Undefined when images are not kept in the directory: then they are not in the backup. */
  imageHolds?: ImageHolds | undefined;
  maintenance?: Pick<Maintenance, 'holdCheckpoints'> | undefined;
}

/**
 * Creates an archive of the embedded stores while they serve. The database is of the moment at which its base backup stops.
 * The images are those of the same moment: none is removed from the start on, and none is stored while the backup stops and
 * they are listed. So each image that a row names is in the archive, and each that is in it has a row or an outbox entry.
 */
export const createBackup = (sources: Sources): AsyncGenerator<Uint8Array> => writeArchive(readEntries(sources));

async function* readEntries({ db, directory, imageHolds, maintenance }: Sources): AsyncGenerator<ArchiveEntry> {
  const releaseCheckpoints = maintenance?.holdCheckpoints();
  const releaseRemovals = await imageHolds?.holdRemovals();
  try {
    const base = await startBaseBackup(db, directory.postgres, 'postgres');
    try {
      yield* base.files();
      const releasePuts = await imageHolds?.holdPuts();
      const [wal, images] = await base
        .stop()
        .then(async (wal) => [wal, imageHolds ? await listFiles(directory.images) : []] as const)
        .finally(releasePuts);
      yield* wal();
      releaseCheckpoints?.();
      yield* copyFile(directory.tokenKeys, 'token-keys');
      if (imageHolds) yield { path: 'images' };
      for (const name of images) yield* copyFile(join(directory.images, name), `images/${name}`);
    } finally {
      await base.abandon();
    }
  } finally {
    releaseCheckpoints?.();
    releaseRemovals?.();
  }
}

/** With the installation's mark, and without drafts of one. */
async function listFiles(images: string): Promise<string[]> {
  const entries = await readdir(images, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.installation.')).map(({ name }) => name);
}
