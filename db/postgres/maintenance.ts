import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { createFailureLog, type Log } from '../support/log.js';
import type { Postgres } from './index.js';

/*
 * Replaces the background processes that the embedded PostgreSQL lacks: autovacuum and the checkpointer. VACUUM and
 * CHECKPOINT occupy the only connection, so they must be short. Each table is therefore vacuumed by a separate statement, and a
 * checkpoint is made before much WAL (write-ahead log) has accumulated.
 */

export interface Maintenance {
  /** Holds off checkpoints, which would remove WAL that a running backup needs. Returns a function that ends the hold. */
  holdCheckpoints(): () => void;
  /** Runs the maintenance that is due, after any run in progress. Logs an error; the next run tries again. */
  runOnce(): Promise<void>;
  usage(): Promise<DatabaseUsage>;
  /** Stops the maintenance, and makes a last checkpoint. */
  stop(): Promise<void>;
}

/** Figures for the metrics. Times are Unix times in seconds; 0 if there was no VACUUM or checkpoint since the start. */
export interface DatabaseUsage {
  databaseBytes: number;
  walBytes: number;
  deadRows: number;
  lastVacuumAt: number;
  lastCheckpointAt: number;
}

interface Options {
  /** The wait between two runs. */
  intervalMs?: number;
  /** How long the first VACUUM of a table may wait until the connection is idle. */
  firstVacuumDelayMs?: number;
  /** Returns whether the disk has space for the writes of VACUUM. Checkpoints run anyway, because they free space. */
  hasRoom?: () => boolean;
}

const INTERVAL_MS = 2000;

/** A checkpoint is due when this much WAL was written since the last one. Replaying it takes less than a second. */
const CHECKPOINT_WAL_BYTES = 32 * 1024 * 1024;

/** A table with at least this urgency is vacuumed even while the connection is in use: under load, it is always in use. */
const BUSY_URGENCY = 4;

/** The default of `firstVacuumDelayMs`. */
const FIRST_VACUUM_DELAY_MS = 10 * 60 * 1000;

interface DueTable {
  name: string;
  /**
   * The highest of these ratios: the numbers of changed and of inserted rows, and the age of transaction ids, each divided by
   * the threshold of PostgreSQL's settings. A table is due at 1. A table of the service that was not vacuumed since the start
   * has an urgency of at least 1, and of at least `BUSY_URGENCY` after `firstVacuumDelayMs`.
   */
  urgency: number;
  /** Whether the table needs VACUUM, not only ANALYZE. */
  needsVacuum: boolean;
}

/** Returns an SQL expression for the number of changed rows at which a table is due, by the settings of autovacuum. */
const thresholdSql = (kind: 'vacuum' | 'vacuum_insert' | 'analyze') =>
  sql.raw(`(current_setting('autovacuum_${kind}_threshold')::float8 +
    current_setting('autovacuum_${kind}_scale_factor')::float8 * greatest(reltuples, 0))`);

/** Starts to run the maintenance periodically. */
export function startMaintenance(
  { db, pools }: Pick<Postgres, 'db' | 'pools'>,
  log: Log,
  { intervalMs = INTERVAL_MS, firstVacuumDelayMs = FIRST_VACUUM_DELAY_MS, hasRoom = () => true }: Options = {},
): Maintenance {
  const stopped = new AbortController();
  const startedAt = performance.now();
  let lastCheckpointAt = 0;
  const holds = new Set<object>();
  const failures = createFailureLog(log, 'database maintenance failed');
  let running: Promise<void> = Promise.resolve();

  const isIdle = () => Object.values(pools()).every(({ total, idle, waiting }) => waiting === 0 && idle === total);

  async function checkpoint(): Promise<void> {
    await sql`checkpoint`.execute(db);
    lastCheckpointAt = Date.now() / 1000;
  }

  /** Makes a checkpoint if at least this much WAL was written since the last one, unless checkpoints are held off. */
  async function checkpointIfDue(minWalBytes: number): Promise<void> {
    if (holds.size > 0) return;
    const { rows } = await sql<{ bytes: number }>`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()`.execute(
      db,
    );
    if ((rows[0]?.bytes ?? 0) >= minWalBytes && holds.size === 0) await checkpoint();
  }

  /** Vacuums or analyzes the tables that are due, the most urgent one first. */
  async function vacuumIfDue(): Promise<void> {
    for (const { name, urgency, needsVacuum } of await findDueTables()) {
      if (stopped.signal.aborted || !hasRoom()) return;
      if (urgency < (isIdle() ? 1 : BUSY_URGENCY)) continue;
      await sql`${sql.raw(needsVacuum ? 'vacuum (analyze)' : 'analyze')} ${sql.raw(name)}`.execute(db);
    }
  }

  /** Returns the tables whose urgency is at least 1, the most urgent one first. */
  async function findDueTables(): Promise<DueTable[]> {
    const firstVacuumUrgency = performance.now() - startedAt < firstVacuumDelayMs ? 1 : BUSY_URGENCY;
    const { rows } = await sql<DueTable>`
      select relid::regclass::text as name, greatest(vacuum_urgency, analyze_urgency) as urgency, vacuum_urgency >= 1 as "needsVacuum"
      from (
        select c.oid as relid,
          greatest(
            n_dead_tup / ${thresholdSql('vacuum')},
            n_ins_since_vacuum / ${thresholdSql('vacuum_insert')},
            age(c.relfrozenxid) / current_setting('vacuum_freeze_table_age')::float8,
            case when nspname = 'public' and last_vacuum is null then ${firstVacuumUrgency}::float8 end
          ) as vacuum_urgency,
          n_mod_since_analyze / ${thresholdSql('analyze')} as analyze_urgency
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace and nspname in ('public', 'pg_catalog')
        join pg_stat_all_tables s on s.relid = c.oid
        where c.relkind = 'r'
      ) tables
      where greatest(vacuum_urgency, analyze_urgency) >= 1
      order by urgency desc`.execute(db);
    return rows;
  }

  function runOnce(): Promise<void> {
    running = running.then(async () => {
      try {
        await vacuumIfDue();
        await checkpointIfDue(CHECKPOINT_WAL_BYTES);
        failures.succeeded();
      } catch (error) {
        if (!stopped.signal.aborted) failures.failed(error);
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
      if (!usage) throw new Error('Expected one row from the usage query');
      return { ...usage, lastCheckpointAt };
    },
    async stop() {
      stopped.abort();
      await loop;
      await running;
      // Leaves no WAL for PostgreSQL to replay when it starts again.
      await checkpointIfDue(1).catch((error) => log.warn({ err: error }, 'the shutdown checkpoint failed'));
    },
  };
}
