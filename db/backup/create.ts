import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageHolds } from '../images/holds.js';
import type { Database } from '../postgres/index.js';
import type { Maintenance } from '../postgres/maintenance.js';
import type { DataDirectory } from '../support/data-directory.js';
import { type ArchiveEntry, writeArchive } from './archive.js';
import { startBaseBackup } from './base-backup.js';
import { fileEntry } from './files.js';

interface Sources {
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
      yield* fileEntry(directory.tokenKeys, 'token-keys');
      if (imageHolds) yield { path: 'images' };
      for (const name of images) yield* fileEntry(join(directory.images, name), `images/${name}`);
    } finally {
      await base.abandon();
    }
  } finally {
    releaseCheckpoints?.();
    releaseRemovals?.();
  }
}

/** Returns the names of all files: images, the installation marker, and drafts of it that a crash may have left. */
async function listFiles(images: string): Promise<string[]> {
  const entries = await readdir(images, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
