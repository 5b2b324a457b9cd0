import cluster from 'node:cluster';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Backlog } from '../../db/outbox/backlog.js';
import type { DatabaseUsage } from '../../db/postgres/maintenance.js';
import type { Observer } from '../../db/support/observer.js';
import { withTimeout } from '../../db/support/timeout.js';
import type { OperationId } from '../../generated/types.js';
import { ERROR_STATUSES } from '../error-codes.js';
import { securityEventCounts } from '../security/events.js';
import { hashQueue } from '../security/password-hashing.js';

/** The buckets for durations: from the duration of a lookup in memory to more than the timeouts of the stores. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The buckets for batch sizes: up to the size of the largest batch. */
const BATCH_SIZE_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/**
 * The timeout of each query of a scrape. If a query takes longer, the scrape omits its metrics. Health checks have a timeout of
 * their own.
 */
const SCRAPE_TIMEOUT_MS = 1000;

/** Functions that return the state of the stores. They are called at each scrape. */
interface StoreSources {
  /** Returns the number of connections of each pool, by pool name. */
  pools(): Record<string, { total: number; idle: number; waiting: number }>;
  backlog(): Promise<Backlog[]>;
  /** Checks whether each store is available. Must not reject. */
  readStates(): Promise<Readonly<Record<string, { ok: boolean }>>>;
  /** Returns the free space on the disk of `DATA_DIR`. */
  freeBytes(): Promise<number>;
  /** Defined only if the database is embedded. */
  embeddedUsage?: (() => Promise<DatabaseUsage>) | undefined;
}

/** The current state of the API server. It is read at each scrape. */
interface HttpSources {
  connections: { readonly open: ReadonlySet<unknown>; readonly counts: { evicted: number; refused: number } };
  /** The usage of each budget for large responses, in bytes. */
  responses: readonly { running: number; waiting: number; refused: number }[];
}

export interface Metrics extends Observer {
  /**
   * Records a request. `operation` is `none` if the request matches no operation of the contract. `status` is 499 if the
   * connection closed before the response started. The duration of a 499 is not recorded: it mostly depends on the client.
   */
  recordRequest(operation: OperationId | 'none', status: number, seconds: number): void;
  /** Records a request that was refused because of the storage quota of its account. */
  storageQuotaExceeded(): void;
  /** Adds the metrics of the stores. A separate call, because the metrics are already needed to open the stores. */
  watchStores(sources: StoreSources): void;
  /** Adds the metrics of the API server. */
  watchHttp(sources: HttpSources): void;
  /** Returns all metrics in Prometheus's text format. */
  text(): Promise<string>;
  readonly contentType: string;
  close(): void;
}

/** A registry that updates its metrics before each scrape. */
class RefreshedRegistry extends Registry {
  constructor(readonly refresh: () => Promise<void>) {
    super();
  }

  override async metrics(): Promise<string> {
    await this.refresh();
    return super.metrics();
  }

  override async getMetricsAsJSON() {
    await this.refresh();
    return super.getMetricsAsJSON();
  }
}

/** Lets the primary process read the metrics of this worker process: see `scripts/workers.ts`. */
function shareWithPrimary(registry: Registry): void {
  AggregatorRegistry.setRegistries(registry);
  // The constructor starts to listen for requests of the primary process.
  new AggregatorRegistry();
}

/** Creates the metrics of a service. Label values are names from the code and the contract, never paths, ids or user input. */
export function createMetrics(): Metrics {
  const registry = new RefreshedRegistry(refresh);
  const registers = [registry];
  if (cluster.isWorker) shareWithPrimary(registry);
  collectDefaultMetrics({ register: registry });

  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers });
  /** Creates a gauge of state that all processes share. If several workers report values, the worst one is used. */
  const sharedGauge = (worst: 'max' | 'min', name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers, aggregator: worst });

  const requests = counter(
    'http_requests_total',
    'Requests, by status; 499 if the connection closed before the response started.',
    'operation',
    'status',
  );
  const requestSeconds = histogram(
    'http_request_duration_seconds',
    'Time from the headers of a request to the end of its response.',
    DURATION_BUCKETS_SECONDS,
    'operation',
  );
  const storeSeconds = histogram(
    'store_call_duration_seconds',
    'Duration of calls to a store, by outcome: ok, unavailable or error.',
    DURATION_BUCKETS_SECONDS,
    'store',
    'verb',
    'outcome',
  );
  const batchSizes = histogram('batch_size', 'Lookups or writes in one batch.', BATCH_SIZE_BUCKETS, 'batch');
  const quotaRefusals = counter(
    'quota_refusals_total',
    'Requests refused because of a quota of their account.',
    'quota',
  );
  // Starts the counter at 0. If it first appeared with 1, Prometheus would not see the first increase.
  quotaRefusals.inc({ quota: 'storage' }, 0);
  const hashes = gauge('password_hashes', 'Argon2 hashes in progress and in the queue.', 'state');
  const refusedHashes = counter(
    'password_hashes_refused_total',
    'Argon2 hashes that did not start: full (the queue was full) or abandoned (the client disconnected first).',
    'reason',
  );
  const securityEvents = counter('security_events_total', 'Security events logged.', 'event');
  const poolConnections = gauge('postgres_pool_connections', 'Open connections to PostgreSQL.', 'pool', 'state');
  const poolWaiting = gauge('postgres_pool_waiting', 'Calls waiting for a connection to PostgreSQL.', 'pool');
  const storeAvailable = sharedGauge(
    'min',
    'store_available',
    '1 if a store responds. 0 if it does not, or while its circuit breaker is open.',
    'store',
  );
  const outboxWaiting = sharedGauge('max', 'outbox_waiting', 'Outbox entries that have not been delivered.', 'kind');
  const outboxOverdue = sharedGauge('max', 'outbox_overdue', 'Outbox entries whose delivery is overdue.', 'kind');
  const outboxOldestAge = sharedGauge(
    'max',
    'outbox_oldest_age_seconds',
    'Age of the oldest overdue outbox entry.',
    'kind',
  );
  const freeSpace = sharedGauge('min', 'data_directory_free_bytes', 'Free space on the disk of DATA_DIR.');
  const databaseUsage: Record<keyof DatabaseUsage, Gauge> = {
    databaseBytes: gauge('embedded_database_bytes', 'Size of the embedded database, without WAL.'),
    walBytes: gauge('embedded_wal_bytes', 'Size of the WAL of the embedded database.'),
    deadRows: gauge('embedded_dead_rows', 'Deleted or replaced rows that VACUUM has not removed yet.'),
    lastVacuumAt: gauge('embedded_last_vacuum_timestamp_seconds', 'Time of the last VACUUM of a table; 0 if none.'),
    lastCheckpointAt: gauge('embedded_last_checkpoint_timestamp_seconds', 'Time of the last checkpoint; 0 if none.'),
  };

  const openConnections = gauge('http_connections', 'Open client connections.');
  const closedConnections = counter(
    'http_connections_closed_total',
    'Connections closed by the connection limit: evicted (idle) or refused (all others in use).',
    'reason',
  );
  const largeResponseBytes = gauge(
    'http_large_response_bytes',
    'Bytes of large responses that are being sent (unsent) or queued (waiting).',
    'state',
  );
  const refusedResponses = counter(
    'http_large_responses_refused_total',
    'Large responses refused because too many were unsent.',
  );

  function updateHttpMetrics({ connections, responses }: HttpSources): void {
    openConnections.set(connections.open.size);
    closedConnections.reset();
    closedConnections.inc({ reason: 'evicted' }, connections.counts.evicted);
    closedConnections.inc({ reason: 'refused' }, connections.counts.refused);
    largeResponseBytes.reset();
    refusedResponses.reset();
    for (const { running, waiting, refused } of responses) {
      largeResponseBytes.inc({ state: 'unsent' }, running);
      largeResponseBytes.inc({ state: 'waiting' }, waiting);
      refusedResponses.inc(refused);
    }
  }

  async function updateStoreMetrics({
    pools,
    readStates,
    backlog,
    freeBytes,
    embeddedUsage,
  }: StoreSources): Promise<void> {
    for (const [pool, { total, idle, waiting }] of Object.entries(pools())) {
      poolConnections.set({ pool, state: 'idle' }, idle);
      poolConnections.set({ pool, state: 'used' }, total - idle);
      poolWaiting.set({ pool }, waiting);
    }
    const [available, backlogs, free, usage] = await Promise.all([
      readStates(),
      withTimeout(SCRAPE_TIMEOUT_MS, backlog()).catch(() => []),
      withTimeout(SCRAPE_TIMEOUT_MS, freeBytes()).catch(() => undefined),
      embeddedUsage && withTimeout(SCRAPE_TIMEOUT_MS, embeddedUsage()).catch(() => undefined),
    ]);
    for (const [store, { ok }] of Object.entries(available)) storeAvailable.set({ store }, Number(ok));
    // Cleared first: if a query fails, a missing value is better than a stale one.
    for (const metric of [outboxWaiting, outboxOverdue, outboxOldestAge]) metric.reset();
    for (const { kind, waiting, overdue, ageSeconds } of backlogs) {
      outboxWaiting.set({ kind }, waiting);
      outboxOverdue.set({ kind }, overdue);
      outboxOldestAge.set({ kind }, ageSeconds);
    }
    // Removed instead of reset, because a gauge without labels reports 0 after a reset.
    for (const metric of [freeSpace, ...Object.values(databaseUsage)]) metric.remove();
    if (free !== undefined) freeSpace.set(free);
    for (const [name, value] of Object.entries(usage ?? {})) databaseUsage[name as keyof DatabaseUsage].set(value);
  }

  let storeSources: StoreSources | undefined;
  let httpSources: HttpSources | undefined;
  async function refresh(): Promise<void> {
    const { running, waiting, refused, abandoned } = hashQueue.usage;
    hashes.set({ state: 'running' }, running);
    hashes.set({ state: 'waiting' }, waiting);
    for (const metric of [refusedHashes, securityEvents]) metric.reset();
    refusedHashes.inc({ reason: 'full' }, refused);
    refusedHashes.inc({ reason: 'abandoned' }, abandoned);
    for (const [event, count] of securityEventCounts()) securityEvents.inc({ event }, count);
    if (storeSources) await updateStoreMetrics(storeSources);
    if (httpSources) updateHttpMetrics(httpSources);
  }

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    close: () => registry.clear(),
    watchStores(sources) {
      storeSources = sources;
    },
    watchHttp(sources) {
      httpSources = sources;
    },
    recordRequest(operation, status, seconds) {
      requests.inc({ operation, status });
      if (status !== ERROR_STATUSES.client_closed_request) requestSeconds.observe({ operation }, seconds);
    },
    storeCall: (store, verb, seconds, outcome) => storeSeconds.observe({ store, verb, outcome }, seconds),
    storageQuotaExceeded: () => quotaRefusals.inc({ quota: 'storage' }),
    batch: (batch, size) => batchSizes.observe({ batch }, size),
  };
}
