import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Log } from '../support/log.js';
import type { Postgres } from './index.js';

/**
 * Does for the embedded PostgreSQL what a server's background processes do: it has no autovacuum and no checkpointer. Both
 * statements hold its only connection, so each is kept short: one table at a time, and a checkpoint after little WAL.
 */
export interface Maintenance {
  /** Makes no checkpoint until the returned function is first called: a checkpoint removes WAL that a running backup needs. */
  holdCheckpoints(): () => void;
  /** Looks now, and does what is due. */
  runOnce(): Promise<void>;
  usage(): Promise<DatabaseUsage>;
  stop(): Promise<void>;
}

/** What operators may want to watch. Times are in seconds since 1970, 0 for never since the start. */
export interface DatabaseUsage {
  databaseBytes: number;
  walBytes: number;
  deadRows: number;
  lastVacuumAt: number;
  lastCheckpointAt: number;
}

interface Options {
  /** How long to wait between two looks at what is due. */
  intervalMs?: number;
  /** Whether there is room on the disk for what VACUUM writes. A checkpoint frees room. */
  hasRoom?: () => boolean;
}

const INTERVAL_MS = 2000;

/** Replaying this much takes a start after `kill -9` less than a second. */
const MAX_WAL_BYTES = 32 * 1024 * 1024;

/**
 * While requests wait, a table is left alone until its changes exceed the threshold this many times: clients that never
 * pause must not keep it growing.
 */
const BUSY_FACTOR = 4;

/** A table that is due, and how many times over its changes reach the threshold. */
interface DueTable {
  name: string;
  factor: number;
  needsVacuum: boolean;
}

/** How many changed rows make a table due, by the settings that autovacuum would read. */
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

  /** Vacuums what is due, one table after another, while no request waits for the connection. */
  async function vacuumIfDue(): Promise<void> {
    for (const { name, factor, needsVacuum } of await findDueTables()) {
      if (stopped.signal.aborted || !hasRoom()) return;
      if (factor < (isIdle() ? 1 : BUSY_FACTOR)) continue;
      await sql`${sql.raw(needsVacuum ? 'vacuum (analyze)' : 'analyze')} ${sql.raw(name)}`.execute(db);
    }
  }

  /** Counts start at zero with the process, so a table that has not been vacuumed since the start is due as well. */
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

  /** One look at a time. A failure is logged, and what was due is due at the next look. */
  function look(): Promise<void> {
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

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await sleep(intervalMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (!stopped.signal.aborted) await look();
    }
  }

  const loop = run();
  return {
    holdCheckpoints() {
      const hold = {};
      holds.add(hold);
      return () => void holds.delete(hold);
    },
    runOnce: look,
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
      // The next start has nothing to replay.
      await checkpointIfDue(1).catch((error) => log.warn({ err: error }, 'the last checkpoint failed'));
    },
  };
}
