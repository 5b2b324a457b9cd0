import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../postgres/index.js';
import type { ArchiveEntry } from './archive.js';
import { fileEntry } from './files.js';

/**
 * A base backup: a copy of the files of a running PostgreSQL, as pg_basebackup makes it. Files change while they are
 * copied, so the copy alone is inconsistent. When PostgreSQL starts on the copy, it replays the WAL (write-ahead log) that
 * was written during the backup, as in crash recovery, and reaches the state at the time of `stop`. The caller must hold off
 * checkpoints until it has read these WAL files, because a checkpoint removes WAL files.
 */
interface BaseBackup {
  /** Yields all files and directories except WAL files. */
  files(): AsyncGenerator<ArchiveEntry>;
  /**
   * Ends the backup. Returns a function that yields the backup's WAL files and its label, which makes PostgreSQL replay them.
   * `stop` itself reads no files, so it is fast: the caller holds off writes of images until it returns.
   */
  stop(): Promise<() => AsyncGenerator<ArchiveEntry>>;
  /** Ends the backup without a result. Does nothing if it has already ended. */
  abandon(): Promise<void>;
}

/** Names of files and directories that a running server creates but that are not data. */
const EXCLUDED = new Set(['postmaster.pid', 'postmaster.opts', 'pgsql_tmp']);

/**
 * Starts a base backup.
 *
 * @param directory the data directory of PostgreSQL
 * @param prefix the directory of its files in the archive
 */
export async function startBaseBackup(db: Database, directory: string, prefix: string): Promise<BaseBackup> {
  // Fails if an earlier backup in this session was not ended. In that case, that backup is ended, and the start is repeated.
  const firstSegment = await startInPostgres(db).catch(async (error) => {
    await stopInPostgres(db).catch(() => {
      throw error;
    });
    return startInPostgres(db);
  });
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
        yield { path: `${prefix}/backup_label`, file: { size: bytes.length, bytes: [bytes] } };
        // The names of segments sort in the order of the WAL.
        const segments = (await readdir(walDirectory)).filter((name) => name >= firstSegment && name <= lastSegment);
        for (const name of segments.sort()) yield* fileEntry(join(walDirectory, name), `${prefix}/pg_wal/${name}`);
      };
    },

    async abandon() {
      // A failure here must not hide the original error. The next backup ends this one.
      if (isInProgress) await stopInPostgres(db).catch(() => undefined);
      isInProgress = false;
    },
  };
}

/** Starts a backup. Returns the name of its first WAL segment. */
async function startInPostgres(db: Database): Promise<string> {
  const { rows } = await sql<{ segment: string }>`
    select pg_walfile_name(pg_backup_start('npm run backup', true)) as segment`.execute(db);
  return rows[0]?.segment ?? '';
}

/** Stops the backup that is in progress in this session. */
const stopInPostgres = (db: Database) => sql`select pg_backup_stop(false)`.execute(db);

/** Yields a directory tree. Includes empty directories, which PostgreSQL needs. Skips the files in `walDirectory`. */
async function* copyDirectory(
  directory: string,
  archivePath: string,
  walDirectory: string,
  isInWalDirectory = false,
): AsyncGenerator<ArchiveEntry> {
  yield { path: archivePath };
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (EXCLUDED.has(entry.name)) continue;
    const source = join(directory, entry.name);
    const target = `${archivePath}/${entry.name}`;
    if (entry.isDirectory()) {
      yield* copyDirectory(source, target, walDirectory, isInWalDirectory || source === walDirectory);
    } else if (!isInWalDirectory) {
      yield* fileEntry(source, target);
    }
  }
}
