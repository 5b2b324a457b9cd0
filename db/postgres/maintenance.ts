import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Log } from '../support/log.js';
import type { Postgres } from './index.js';

/**
 * Replaces the background processes that the embedded PostgreSQL lacks: autovacuum and the checkpointer. VACUUM and CHECKPOINT
 * occupy its only connection, so each run is short: one table at a time, and a checkpoint after little WAL.
 */
export interface Maintenance {
  /** Suspends checkpoints until the returned function is called: a checkpoint removes WAL that a running backup needs. */
  holdCheckpoints(): () => void;
  /** Runs the maintenance that is due. */
  runOnce(): Promise<void>;
  usage(): Promise<DatabaseUsage>;
  stop(): Promise<void>;
}

/** Figures for the metrics. Times are Unix timestamps in seconds, 0 if it did not happen since the start. */
export interface DatabaseUsage {
  databaseBytes: number;
  walBytes: number;
  deadRows: number;
  lastVacuumAt: number;
  lastCheckpointAt: number;
}

interface Options {
  /** The pause between two runs. */
  intervalMs?: number;
  /** Whether the disk has space for VACUUM's writes. Checkpoints always run: they free space. */
  hasRoom?: () => boolean;
}

const INTERVAL_MS = 2000;

/** Limits crash recovery: replaying this much WAL takes less than a second. */
const MAX_WAL_BYTES = 32 * 1024 * 1024;

/**
 * While requests wait, a table is vacuumed only when its changes exceed the threshold by this factor. Under constant load it
 * would otherwise never be vacuumed.
 */
const BUSY_FACTOR = 4;

interface DueTable {
  name: string;
  /** The number of changes, divided by the threshold. */
  factor: number;
  needsVacuum: boolean;
}

/** The number of changed rows at which a table is due, computed from the autovacuum settings. */
const threshold = (kind: 'vacuum' | 'vacuum_insert' | 'analyze') =>
  sql.raw(`(current_setting('autovacuum_${kind}_threshold')::float8 +
    current_setting('autovacuum_${kind}_scale_factor')::float8 * greatest(reltuples, 0))`);

export function startMaintenance(
  { db, pools }: Pick<Postgres, 'db' | 'pools'>,
  log: Log,
  { intervalMs = INTERVAL_MS, hasRoom = () => true }: Options = {},
): Maintenance {
  const stopped = new AbortController();
  let lastCheckpointAt = 0;
  const holds = new Set<object>();
  let running: Promise<void> = Promise.resolve();

  const isIdle = () => Object.values(pools()).every(({ total, idle, waiting }) => waiting === 0 && idle === total);

  async function checkpoint(): Promise<void> {
    await sql`checkpoint`.execute(db);
    lastCheckpointAt = Date.now() / 1000;
  }

  async function checkpointIfDue(maxWalBytes: number): Promise<void> {
    if (holds.size > 0) return;
    const { rows } = await sql<{ bytes: number }>`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()`.execute(
      db,
    );
    if ((rows[0]?.bytes ?? 0) >= maxWalBytes && holds.size === 0) await checkpoint();
  }

  /** Vacuums the tables that are due, one after another. */
  async function vacuumIfDue(): Promise<void> {
    for (const { name, factor, needsVacuum } of await findDueTables()) {
      if (stopped.signal.aborted || !hasRoom()) return;
      if (factor < (isIdle() ? 1 : BUSY_FACTOR)) continue;
      await sql`${sql.raw(needsVacuum ? 'vacuum (analyze)' : 'analyze')} ${sql.raw(name)}`.execute(db);
    }
  }

  /** Includes tables not vacuumed since the start: the statistics start at zero with the process. */
  async function findDueTables(): Promise<DueTable[]> {
    const { rows } = await sql<DueTable>`
      select relid::regclass::text as name, greatest(vacuum_factor, analyze_factor) as factor, vacuum_factor >= 1 as "needsVacuum"
      from (
        select c.oid as relid,
          greatest(
            n_dead_tup / ${threshold('vacuum')},
            n_ins_since_vacuum / ${threshold('vacuum_insert')},
            age(c.relfrozenxid) / current_setting('vacuum_freeze_table_age')::float8,
            case when nspname = 'public' and last_vacuum is null then 1 end
          ) as vacuum_factor,
          n_mod_since_analyze / ${threshold('analyze')} as analyze_factor
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace and nspname in ('public', 'pg_catalog')
        join pg_stat_all_tables s on s.relid = c.oid
        where c.relkind = 'r'
      ) tables
      where greatest(vacuum_factor, analyze_factor) >= 1
      order by factor desc`.execute(db);
    return rows;
  }

  /** Serializes runs. Logs a failure; the next run retries. */
  function runOnce(): Promise<void> {
    running = running.then(async () => {
      try {
        await vacuumIfDue();
        await checkpointIfDue(MAX_WAL_BYTES);
      } catch (error) {
        if (!stopped.signal.aborted) log.warn({ err: error }, 'database maintenance failed');
      }
    });
    return running;
  }

  async function runPeriodically(): Promise<void> {
    while (!stopped.signal.aborted) {
      await sleep(intervalMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (!stopped.signal.aborted) await runOnce();
    }
  }

  const loop = runPeriodically();
  return {
    holdCheckpoints() {
      const hold = {};
      holds.add(hold);
      return () => void holds.delete(hold);
    },
    runOnce,
    async usage() {
      const { rows } = await sql<Omit<DatabaseUsage, 'lastCheckpointAt'>>`
        select pg_database_size(current_database())::float8 as "databaseBytes",
          (select sum(size) from pg_ls_waldir())::float8 as "walBytes",
          coalesce(sum(n_dead_tup), 0)::float8 as "deadRows",
          coalesce(extract(epoch from max(last_vacuum)), 0)::float8 as "lastVacuumAt"
        from pg_stat_user_tables`.execute(db);
      const [usage] = rows;
      if (!usage) throw new Error('an aggregate returns one row');
      return { ...usage, lastCheckpointAt };
    },
    async stop() {
      stopped.abort();
      await loop;
      await running;
      // Leaves the next start no WAL to replay.
      await checkpointIfDue(1).catch((error) => log.warn({ err: error }, 'the shutdown checkpoint failed'));
    },
  };
}
