import { statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import { createFailureLog, type Log } from '../support/log.js';
import { startPeriodic } from '../support/periodic.js';
import type { Database } from './index.js';

/*
 * Keeps a reserve of free space on the disk of the embedded stores. PostgreSQL crashes when it cannot write its WAL
 * (write-ahead log). Before that happens, the service refuses writes: the database becomes read-only, and uploads are
 * rejected. Reads continue. They use the reserve, because PostgreSQL writes a little even for reads.
 */

export interface FreeSpace {
  /** Whether the last check found too little free space, so that writes are refused. */
  readonly isLow: boolean;
  /** Checks the free space. Returns whether there is enough for writes. */
  check(): Promise<boolean>;
  stop(): Promise<void>;
}

/** The free space below which writes are refused: the size of four WAL segments. */
export const RESERVE_BYTES = 64 * 1024 * 1024;

/** Writes are accepted again at this much free space. The margin (hysteresis) prevents rapid changes between the two states. */
const RECOVERED_BYTES = RESERVE_BYTES + 16 * 1024 * 1024;

/** The free space that PostgreSQL needs to start: it may create a WAL segment and write a checkpoint. */
const REQUIRED_START_BYTES = 32 * 1024 * 1024;

const CHECK_INTERVAL_MS = 250;

/** The disk has too little free space for PostgreSQL to start. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError';
  readonly code = 'disk_full';
  constructor(path: string, freeBytes: number) {
    const mebibytes = (bytes: number) => Math.floor(bytes / 1024 / 1024);
    super(
      `The disk of ${path} is full: ${mebibytes(freeBytes)} MiB are free, and a start needs ${mebibytes(REQUIRED_START_BYTES)} MiB. Free some space and start again; no data was damaged`,
    );
  }
}

/** Throws DiskFullError if the disk has too little free space for PostgreSQL to start. */
export async function requireRoomToStart(path: string): Promise<void> {
  const free = await readFreeBytes(path);
  if (free < REQUIRED_START_BYTES) throw new DiskFullError(path, free);
}

/** Checks the free space periodically, and makes the database read-only while it is low. */
export async function watchFreeSpace(path: string, db: Database, log: Log): Promise<FreeSpace> {
  let freeBytes = await readFreeBytes(path);
  let isLow = false;

  async function check(): Promise<boolean> {
    freeBytes = await readFreeBytes(path);
    isLow = freeBytes < (isLow ? RECOVERED_BYTES : RESERVE_BYTES);
    return !isLow;
  }

  /** Makes all later transactions read-only or writable. The setting applies to a session, and there is only one. */
  const setReadOnly = (readOnly: boolean) =>
    sql`set default_transaction_read_only = ${sql.raw(readOnly ? 'on' : 'off')}`.execute(db);

  let readOnly = false;
  const failures = createFailureLog(log, 'failed to check the free space');
  const watch = startPeriodic(CHECK_INTERVAL_MS, async (signal) => {
    try {
      // A copy of `isLow`, because an upload may change `isLow` while `setReadOnly` waits for the connection.
      const low = !(await check());
      if (low && !readOnly) log.warn({ freeBytes }, 'the disk is almost full: writes are refused');
      if (!low && readOnly) log.info({ freeBytes }, 'the disk has enough free space again: writes are accepted');
      // Repeated while space is low, because a restart of the database resets the setting.
      if (low || readOnly) await setReadOnly(low);
      readOnly = low;
      failures.succeeded();
    } catch (error) {
      if (!signal.aborted) failures.failed(error);
    }
  });
  return {
    get isLow() {
      return isLow;
    },
    check,
    stop: watch.stop,
  };
}

/** Returns the free space on the disk of a path. */
export async function readFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
