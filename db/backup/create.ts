import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageHolds } from '../images/holds.js';
import type { Database } from '../postgres/index.js';
import type { Maintenance } from '../postgres/maintenance.js';
import type { DataDirectory } from '../support/data-directory.js';
import { type ArchiveEntry, writeArchive } from './archive.js';
import { databaseFiles, startBaseBackup, stopBaseBackup, walFiles } from './base-backup.js';

interface BackupSources {
  db: Database;
  directory: DataDirectory;
  /** Undefined if the images are not in the data directory. The backup then does not include them. */
  imageHolds?: ImageHolds | undefined;
  maintenance?: Pick<Maintenance, 'holdCheckpoints'> | undefined;
}

/**
 * Creates an archive of the embedded stores while they are in use. Yields its bytes.
 *
 * The archive contains the database as of the end of the base backup, and the images as of the same time. To achieve this,
 * removals of images are held off during the whole backup. New images are held off only while the base backup ends and the
 * images are listed. As a result, the archive contains every image that a row refers to, and every image in the archive
 * has a row or an outbox entry.
 */
export const createBackup = (sources: BackupSources): AsyncGenerator<Uint8Array> => writeArchive(readEntries(sources));

async function* readEntries({ db, directory, imageHolds, maintenance }: BackupSources): AsyncGenerator<ArchiveEntry> {
  const { postgres, images, tokenKeys } = directory;
  const releaseCheckpoints = maintenance?.holdCheckpoints();
  const releaseRemovals = await imageHolds?.holdRemovals();
  const stopUnfinished = () => stopBaseBackup(db).catch(() => undefined);
  try {
    // An earlier backup may not have been able to stop its base backup, and a session has only one.
    await stopUnfinished();
    const firstWal = await startBaseBackup(db);
    yield* databaseFiles(postgres, 'postgres');
    const releasePuts = await imageHolds?.holdPuts();
    const [{ wal: lastWal, label }, imageEntries] = await stopBaseBackup(db)
      .then(async (end) => [end, imageHolds ? await readdir(images, { withFileTypes: true }) : []] as const)
      .finally(releasePuts);
    yield { path: 'postgres/backup_label', source: Buffer.from(label) };
    yield* walFiles(postgres, 'postgres', firstWal, lastWal);
    releaseCheckpoints?.();
    yield { path: 'token-keys', source: tokenKeys };
    if (imageHolds) yield { path: 'images' };
    for (const entry of imageEntries)
      if (entry.isFile()) yield { path: `images/${entry.name}`, source: join(images, entry.name) };
  } finally {
    await stopUnfinished();
    releaseCheckpoints?.();
    releaseRemovals?.();
  }
}
