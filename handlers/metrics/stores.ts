import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Backlog } from '../../db/outbox/backlog.js';
import type { PoolUsage } from '../../db/postgres/index.js';
import type { DatabaseUsage } from '../../db/postgres/maintenance.js';
import type { Totals } from '../../db/stores/totals.js';
import type { Observer } from '../../db/support/observer.js';
import { withTimeout } from '../../db/support/timeout.js';
import { DURATION_BUCKETS_SECONDS } from './buckets.js';

/** The buckets for batch sizes: up to the size of the largest batch. */
const BATCH_SIZE_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/**
 * The timeout of each query of a scrape. If a query takes longer, the scrape omits its metrics. Health checks have a timeout of
 * their own.
 */
const SCRAPE_TIMEOUT_MS = 1000;

/** Functions that return the state of the stores. They are called at each scrape. */
export interface StoreSources {
  /** Returns the usage of each connection pool, by pool name. */
  pools(): Record<string, PoolUsage>;
  backlog(): Promise<Backlog[]>;
  totals(): Promise<Totals>;
  /** Checks whether each store is available. Must not reject. */
  readStates(): Promise<Readonly<Record<string, { ok: boolean }>>>;
  /** Returns the free space on the disk of `DATA_DIR`. */
  freeBytes(): Promise<number>;
  /** Defined only if the database is embedded. */
  embeddedUsage?: (() => Promise<DatabaseUsage>) | undefined;
}

/** Defines the metrics of store calls and batches. Returns the observer that records them. */
export function createStoreObserver(registry: Registry): Pick<Observer, 'storeCall' | 'batch'> {
  const registers = [registry];
  const callSeconds = new Histogram({
    name: 'store_call_duration_seconds',
    help: 'Duration of calls to a store, by outcome: ok, unavailable or error.',
    labelNames: ['store', 'verb', 'outcome'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const batchSizes = new Histogram({
    name: 'batch_size',
    help: 'Lookups or writes in one batch.',
    labelNames: ['batch'],
    buckets: BATCH_SIZE_BUCKETS,
    registers,
  });
  return {
    storeCall: (store, verb, seconds, outcome) => callSeconds.observe({ store, verb, outcome }, seconds),
    batch: (batch, size) => batchSizes.observe({ batch }, size),
  };
}

/** Defines the metrics of the state of the stores. */
export function defineStoreMetrics(registry: Registry, sources: StoreSources): void {
  const registers = [registry];
  new Gauge({
    name: 'postgres_pool_connections',
    help: 'Open connections to PostgreSQL.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { total, idle }] of Object.entries(sources.pools())) {
        this.set({ pool, state: 'idle' }, idle);
        this.set({ pool, state: 'used' }, total - idle);
      }
    },
  });
  new Gauge({
    name: 'postgres_pool_waiting',
    help: 'Calls waiting for a connection to PostgreSQL.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { waiting }] of Object.entries(sources.pools())) this.set({ pool }, waiting);
    },
  });
  new Gauge({
    name: 'store_available',
    help: '1 if a store responds. 0 if it does not, while its circuit breaker is open, or while a full disk refuses writes.',
    labelNames: ['store'],
    registers,
    async collect() {
      for (const [store, { ok }] of Object.entries(await sources.readStates())) this.set({ store }, Number(ok));
    },
  });
  new Gauge({
    name: 'data_directory_free_bytes',
    help: 'Free space on the disk of DATA_DIR.',
    registers,
    async collect() {
      const free = await ifInTime(sources.freeBytes());
      if (free === undefined) this.remove();
      else this.set(free);
    },
  });
  defineOutboxMetrics(registry, sources.backlog);
  defineFigures(registry, sources.totals, {
    accounts: ['stored_accounts', 'Accounts (an estimate).'],
    posts: ['stored_posts', 'Posts (an estimate).'],
    sessions: ['stored_sessions', 'Sessions that have not expired (an estimate).'],
    imageBytes: ['stored_image_bytes', 'Size of all pictures and images of posts (an estimate).'],
    operatorActions: ['operator_actions', 'Changes made by npm run admin, in any process.'],
  });
  if (!sources.embeddedUsage) return;
  defineFigures(registry, sources.embeddedUsage, {
    databaseBytes: ['embedded_database_bytes', 'Size of the embedded database, without WAL.'],
    walBytes: ['embedded_wal_bytes', 'Size of the WAL of the embedded database.'],
    deadRows: ['embedded_dead_rows', 'Deleted or replaced rows that VACUUM has not removed yet.'],
    lastVacuumAt: ['embedded_last_vacuum_timestamp_seconds', 'Time of the last VACUUM of a table; 0 if none.'],
    lastCheckpointAt: ['embedded_last_checkpoint_timestamp_seconds', 'Time of the last checkpoint; 0 if none.'],
  });
}

function defineOutboxMetrics(registry: Registry, readBacklog: StoreSources['backlog']): void {
  const read = sharedWhilePending(readBacklog);
  const define = (name: string, help: string, figureOf: (backlog: Backlog) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['kind'],
      registers: [registry],
      async collect() {
        const backlogs = await read();
        // If the query fails, a missing value is better than a stale one.
        this.reset();
        for (const backlog of backlogs ?? []) this.set({ kind: backlog.kind }, figureOf(backlog));
      },
    });
  define('outbox_waiting', 'Outbox entries that have not been delivered.', ({ waiting }) => waiting);
  define('outbox_overdue', 'Outbox entries whose delivery is overdue.', ({ overdue }) => overdue);
  define('outbox_oldest_age_seconds', 'Age of the oldest overdue outbox entry.', ({ ageSeconds }) => ageSeconds);
}

/** Defines a gauge for each figure that a query returns. @param gauges the name and the help text of each */
function defineFigures<Figure extends string>(
  registry: Registry,
  query: () => Promise<Record<Figure, number>>,
  gauges: Record<Figure, readonly [name: string, help: string]>,
): void {
  const read = sharedWhilePending(query);
  for (const figure of Object.keys(gauges) as Figure[]) {
    const [name, help] = gauges[figure];
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const figures = await read();
        // Not reset, because a gauge without labels reports 0 after a reset.
        if (figures) this.set(figures[figure]);
        else this.remove();
      },
    });
  }
}

/** Returns the result of a query, or undefined if the query fails or takes too long. */
const ifInTime = <Result>(query: Promise<Result>): Promise<Result | undefined> =>
  withTimeout(SCRAPE_TIMEOUT_MS, query).catch(() => undefined);

/** Returns a function that runs a query once for all metrics of a scrape: while it is pending, further calls share it. */
function sharedWhilePending<Result>(query: () => Promise<Result>): () => Promise<Result | undefined> {
  let pending: Promise<Result | undefined> | undefined;
  return () => {
    pending ??= ifInTime(query()).finally(() => {
      pending = undefined;
    });
    return pending;
  };
}
