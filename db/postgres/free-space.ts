import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Log } from '../support/log.js';
import type { Database } from './index.js';

/**
 * Keeps a reserve on the disk of the embedded stores. PostgreSQL cannot go on when it cannot write its WAL, so writes stop
 * before: the database becomes read-only, and uploads are refused. Reads write a little too, which the reserve is for.
 */
export interface FreeSpace {
  /** Whether writes are refused, as of the last look. */
  readonly low: boolean;
  readonly freeBytes: number;
  /** Looks now. Returns whether there is room to write. */
  check(): Promise<boolean>;
  stop(): Promise<void>;
}

/** Four segments of WAL. */
const RESERVE_BYTES = 64 * 1024 * 1024;

/** What has to be free again before writes are accepted: a margin, so that this does not change with every request. */
const RECOVERED_BYTES = RESERVE_BYTES + 16 * 1024 * 1024;

/** A start replays WAL, and may begin a new segment and write a checkpoint. */
const START_BYTES = 32 * 1024 * 1024;

const INTERVAL_MS = 250;

export class DiskFullError extends Error {
  readonly code = 'disk_full';
  constructor(path: string, freeBytes: number) {
    const mebibytes = (bytes: number) => Math.floor(bytes / 1024 / 1024);
    super(
      `The disk of ${path} is full: ${mebibytes(freeBytes)} MiB are free, and a start needs ${mebibytes(START_BYTES)} MiB. Make room and start again; nothing is damaged`,
    );
    this.name = 'DiskFullError';
  }
}

/** @throws DiskFullError when PostgreSQL could not start there */
export async function requireRoomToStart(path: string): Promise<void> {
  const free = await readFreeBytes(path);
  if (free < START_BYTES) throw new DiskFullError(path, free);
}

export async function watchFreeSpace(path: string, db: Database, log: Log): Promise<FreeSpace> {
  const stopped = new AbortController();
  let freeBytes = await readFreeBytes(path);
  let low = false;

  async function check(): Promise<boolean> {
    freeBytes = await readFreeBytes(path);
    low = freeBytes < (low ? RECOVERED_BYTES : RESERVE_BYTES);
    return !low;
  }

  /** For all transactions that begin from now on: the setting is of the session, and there is one. */
  const setReadOnly = (readOnly: boolean) =>
    sql`set default_transaction_read_only = ${sql.raw(readOnly ? 'on' : 'off')}`.execute(db);

  async function run(): Promise<void> {
    let readOnly = false;
    while (!stopped.signal.aborted) {
      try {
        await check();
        if (low && !readOnly) log.warn({ freeBytes }, 'the disk is almost full: writes are refused');
        if (!low && readOnly) log.info({ freeBytes }, 'the disk has room again: writes are accepted');
        // Each time, since a database that was restarted has forgotten it.
        if (low || readOnly) await setReadOnly(low);
        readOnly = low;
      } catch (error) {
        if (!stopped.signal.aborted) log.warn({ err: error }, 'the free space could not be checked');
      }
      await sleep(INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  const loop = run();
  return {
    get low() {
      return low;
    },
    get freeBytes() {
      return freeBytes;
    },
    check,
    async stop() {
      stopped.abort();
      await loop;
    },
  };
}

async function readFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
