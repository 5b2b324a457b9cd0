import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../postgres/index.js';
import type { ArchiveEntry } from './archive.js';
import { copyFile } from './files.js';

/**
 * Copies the files of a running PostgreSQL, as pg_basebackup does. Files are copied while they change. When PostgreSQL starts on
 * the copy, it replays the WAL written during the backup, as in crash recovery, and reaches the state at `stop`. No checkpoint
 * may run during the backup, because it removes WAL.
 */
export interface BaseBackup {
  /** Yields all files except WAL. */
  files(): AsyncGenerator<ArchiveEntry>;
  /** Ends the backup. Returns a generator of its WAL and its label, which makes PostgreSQL replay the WAL. */
  stop(): Promise<() => AsyncGenerator<ArchiveEntry>>;
  /** Ends the backup and discards its WAL and label. Does nothing if it has ended. */
  abandon(): Promise<void>;
}

/** Files of a running server that are not data. */
const EXCLUDED = new Set(['postmaster.pid', 'postmaster.opts', 'pgsql_tmp']);

/** Starts a base backup. @param prefix the directory of the files in the archive */
export async function startBaseBackup(db: Database, directory: string, prefix: string): Promise<BaseBackup> {
  // An earlier backup that failed to end is still in progress in this session.
  const firstSegment = await start(db).catch(() => abandon(db).then(() => start(db)));
  const walDirectory = join(directory, 'pg_wal');
  let isInProgress = true;
  return {
    files: () => copyDirectory(directory, prefix, walDirectory),

    async stop() {
      const { rows } = await sql<{ label: string; segment: string }>`
        select labelfile as label, pg_walfile_name(lsn) as segment from pg_backup_stop(false)`.execute(db);
      isInProgress = false;
      const { label = '', segment: lastSegment = '' } = rows[0] ?? {};
      return async function* () {
        const bytes = Buffer.from(label);
        yield { path: `${prefix}/backup_label`, file: { size: bytes.length, bytes: once(bytes) } };
        const segments = (await readdir(walDirectory)).filter((name) => name >= firstSegment && name <= lastSegment);
        for (const name of segments.sort()) yield* copyFile(join(walDirectory, name), `${prefix}/pg_wal/${name}`);
      };
    },

    async abandon() {
      if (isInProgress) await abandon(db);
      isInProgress = false;
    },
  };
}

/** Starts the backup. Returns the name of its first WAL segment. */
async function start(db: Database): Promise<string> {
  const { rows } = await sql<{ segment: string }>`
    select pg_walfile_name(pg_backup_start('npm run backup', true)) as segment`.execute(db);
  return rows[0]?.segment ?? '';
}

const abandon = (db: Database) => sql`select pg_backup_stop(false)`.execute(db);

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Yields a directory tree, with empty directories, which PostgreSQL needs. Skips the files below `withoutFiles`. */
async function* copyDirectory(
  directory: string,
  archivePath: string,
  withoutFiles: string,
): AsyncGenerator<ArchiveEntry> {
  yield { path: archivePath };
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (EXCLUDED.has(entry.name)) continue;
    const source = join(directory, entry.name);
    const target = `${archivePath}/${entry.name}`;
    if (entry.isDirectory()) yield* copyDirectory(source, target, directory === withoutFiles ? source : withoutFiles);
    else if (directory !== withoutFiles) yield* copyFile(source, target);
  }
}
