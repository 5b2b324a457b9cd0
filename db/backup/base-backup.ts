import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../postgres/index.js';
import type { ArchiveEntry } from './archive.js';

/*
 * A base backup: a copy of the files of a running PostgreSQL, as pg_basebackup makes it. Files change while they are copied, so
 * the copy alone is inconsistent. When PostgreSQL starts on the copy, it replays the WAL (write-ahead log) that was written
 * during the backup, as in crash recovery, and reaches the state at the end of the backup. The caller must hold off checkpoints
 * until it has read these WAL files, because a checkpoint removes WAL files.
 */

/** Files that a running server creates but that are not data, and WAL files, which `walFiles` yields. */
const EXCLUDED = /^postmaster\.(pid|opts)$|pgsql_tmp|^pg_wal\//;

/** Starts a base backup. Returns the name of its first WAL file. */
export async function startBaseBackup(db: Database): Promise<string> {
  const { rows } = await sql<{ wal: string }>`
    select pg_walfile_name(pg_backup_start('npm run backup', true)) as wal`.execute(db);
  return rows[0]?.wal ?? '';
}

/** Ends a base backup. Returns the name of its last WAL file, and its label, which makes PostgreSQL replay the WAL. */
export async function stopBaseBackup(db: Database): Promise<{ wal: string; label: string }> {
  const { rows } = await sql<{ wal: string; label: string }>`
    select pg_walfile_name(lsn) as wal, labelfile as label from pg_backup_stop(false)`.execute(db);
  return rows[0] ?? { wal: '', label: '' };
}

/** Yields all files of the database except WAL files, and all directories: PostgreSQL also needs the empty ones. */
export async function* databaseFiles(directory: string, archivePath: string): AsyncGenerator<ArchiveEntry> {
  yield { path: archivePath };
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name);
    const path = relative(directory, source);
    if (entry.isDirectory()) yield { path: `${archivePath}/${path}` };
    else if (!EXCLUDED.test(path)) yield { path: `${archivePath}/${path}`, source };
  }
}

/** Yields the WAL files from the first to the last one. Their names sort in the order of the WAL. */
export async function* walFiles(
  directory: string,
  archivePath: string,
  first: string,
  last: string,
): AsyncGenerator<ArchiveEntry> {
  for (const name of (await readdir(join(directory, 'pg_wal'))).sort()) {
    if (name < first || name > last) continue;
    yield { path: `${archivePath}/pg_wal/${name}`, source: join(directory, 'pg_wal', name) };
  }
}
