import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../postgres/index.js';
import type { ArchiveEntry } from './archive.js';
import { copyFile } from './files.js';

/**
 * Copies the files of a running PostgreSQL, as pg_basebackup does. Between `start` and `stop` files may be copied in any
 * order while they change: a start on the copy replays the WAL of that time, as after a crash. The copy then is of the moment
 * of `stop`. No checkpoint may be made in between.
 */
export interface BaseBackup {
  /** All files but WAL. */
  files(): AsyncGenerator<ArchiveEntry>;
  /** Ends the backup. Returns the WAL that belongs to it, and the label that tells a start to replay it. */
  stop(): Promise<() => AsyncGenerator<ArchiveEntry>>;
  /** Ends a backup that is not needed any more, if it has not ended. */
  abandon(): Promise<void>;
}

/** What belongs to a process and not to the data. */
const EXCLUDED = new Set(['postmaster.pid', 'postmaster.opts', 'pgsql_tmp']);

/** @param prefix where the files belong in the archive */
export async function startBaseBackup(db: Database, directory: string, prefix: string): Promise<BaseBackup> {
  // One that could not be ended is still in progress in this session.
  const firstSegment = await start(db).catch(() => abandon(db).then(() => start(db)));
  const walDirectory = join(directory, 'pg_wal');
  let open = true;
  return {
    files: () => copyDirectory(directory, prefix, walDirectory),

    async stop() {
      const { rows } = await sql<{ label: string; segment: string }>`
        select labelfile as label, pg_walfile_name(lsn) as segment from pg_backup_stop(false)`.execute(db);
      open = false;
      const { label = '', segment: lastSegment = '' } = rows[0] ?? {};
      return async function* () {
        const bytes = Buffer.from(label);
        yield { path: `${prefix}/backup_label`, file: { size: bytes.length, bytes: once(bytes) } };
        const segments = (await readdir(walDirectory)).filter((name) => name >= firstSegment && name <= lastSegment);
        for (const name of segments.sort()) yield* copyFile(join(walDirectory, name), `${prefix}/pg_wal/${name}`);
      };
    },

    async abandon() {
      if (open) await abandon(db);
      open = false;
    },
  };
}

/** Returns the first segment of WAL that belongs to the backup. */
async function start(db: Database): Promise<string> {
  const { rows } = await sql<{ segment: string }>`
    select pg_walfile_name(pg_backup_start('npm run backup', true)) as segment`.execute(db);
  return rows[0]?.segment ?? '';
}

const abandon = (db: Database) => sql`select pg_backup_stop(false)`.execute(db);

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Copies empty directories too, which PostgreSQL needs. Of `emptied`, and what lies below it, only directories are copied. */
async function* copyDirectory(directory: string, archived: string, emptied: string): AsyncGenerator<ArchiveEntry> {
  yield { path: archived };
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (EXCLUDED.has(entry.name)) continue;
    const [path, name] = [join(directory, entry.name), `${archived}/${entry.name}`];
    if (entry.isDirectory()) yield* copyDirectory(path, name, directory === emptied ? path : emptied);
    else if (directory !== emptied) yield* copyFile(path, name);
  }
}
