import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageHolds } from '../images/holds.js';
import type { Database } from '../postgres/index.js';
import type { Maintenance } from '../postgres/maintenance.js';
import type { DataDirectory } from '../support/data-directory.js';
import { type ArchiveEntry, writeArchive } from './archive.js';
import { databaseFiles, readLastWalFile, readWalRange, walFiles } from './base-backup.js';

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
  const readEnd = async () => {
    const wal = await readWalRange(db);
    const imageEntries = imageHolds ? await readdir(images, { withFileTypes: true }) : [];
    return { wal, lastWalFile: await readLastWalFile(postgres, wal), imageEntries };
  };
  const releaseCheckpoints = maintenance?.holdCheckpoints();
  const releaseRemovals = await imageHolds?.holdRemovals();
  try {
    const before = await readWalRange(db);
    yield* databaseFiles(postgres, 'postgres');
    const releasePuts = await imageHolds?.holdPuts();
    const { wal, lastWalFile, imageEntries } = await readEnd().finally(releasePuts);
    // PostgreSQL makes a checkpoint when it starts again after a crash.
    if (wal.redo !== before.redo) throw new Error('the database was restarted during the backup');
    yield* walFiles(postgres, 'postgres', wal, lastWalFile);
    releaseCheckpoints?.();
    yield { path: 'token-keys', source: tokenKeys };
    if (imageHolds) yield { path: 'images' };
    for (const entry of imageEntries)
      if (entry.isFile()) yield { path: `images/${entry.name}`, source: join(images, entry.name) };
  } finally {
    releaseCheckpoints?.();
    releaseRemovals?.();
  }
}
