import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../postgres/index.js';
import type { ArchiveEntry } from './archive.js';

/*
 * A base backup: a copy of the files of a running PostgreSQL. Files change while they are copied, so the copy alone is
 * inconsistent. When PostgreSQL starts on the copy, it replays the WAL (write-ahead log) since the last checkpoint, as after a
 * crash, and reaches the state at the end of the backup. The caller must hold off checkpoints until it has read these WAL files,
 * because a checkpoint removes WAL files.
 *
 * `pg_backup_start` is not needed, because the embedded PostgreSQL makes no checkpoints of its own. It would write WAL, which
 * fails on a full disk.
 */

/** Files that a running server creates but that are not data, and WAL files, which `walFiles` yields. */
const EXCLUDED = /^postmaster\.(pid|opts)$|pgsql_tmp|^pg_wal\//;

interface WalRange {
  /** The position at which a replay begins. It changes with each checkpoint. */
  redo: string;
  /** The name of the file that contains this position, and of the file to which PostgreSQL writes at present. */
  first: string;
  last: string;
}

/** Returns the range of WAL that PostgreSQL would replay after a crash. */
export async function readWalRange(db: Database): Promise<WalRange> {
  const { rows } = await sql<WalRange>`
    select redo_lsn::text as redo, pg_walfile_name(redo_lsn) as first,
      pg_walfile_name(pg_current_wal_flush_lsn()) as last
    from pg_control_checkpoint()`.execute(db);
  return rows[0] ?? { redo: '', first: '', last: '' };
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

/** Reads the last WAL file of a range. The WAL that is written afterwards is not part of the backup. */
export const readLastWalFile = (directory: string, { last }: WalRange) => readFile(join(directory, 'pg_wal', last));

/** Yields the WAL files of a range. Their names sort in the order of the WAL. @param lastFile the content of the last one */
export async function* walFiles(
  directory: string,
  archivePath: string,
  { first, last }: WalRange,
  lastFile: Buffer,
): AsyncGenerator<ArchiveEntry> {
  for (const name of (await readdir(join(directory, 'pg_wal'))).sort()) {
    if (name < first || name > last) continue;
    const source = name === last ? lastFile : join(directory, 'pg_wal', name);
    yield { path: `${archivePath}/pg_wal/${name}`, source };
  }
}
