import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Backlog } from '../../db/outbox/backlog.js';
import type { DatabaseUsage } from '../../db/postgres/maintenance.js';
import type { Observer } from '../../db/support/observer.js';
import type { OperationId } from '../../generated/types.js';
import { countSecurityEvents } from '../security/events.js';
import { hashesRefused, hashing } from '../security/password-hashing.js';
import { withDeadline } from './deadline.js';

/** From a look-up in memory to a store's deadline and beyond, in seconds. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Up to the longest batch. */
const BATCH_SIZE_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** How long a scrape waits for PostgreSQL, in milliseconds. What has no value by then is left out. */
const SCRAPE_TIMEOUT_MS = 1000;

/** What an account may use up. */
export type Quota = 'storage';

/** What is looked at when somebody asks, and not before. */
export interface Sources {
  /** The connections of each pool, by its name. */
  pools(): Record<string, { total: number; idle: number; waiting: number }>;
  backlog(): Promise<Backlog[]>;
  /** Of the embedded stores, if they serve. */
  embedded?: (() => Promise<EmbeddedUsage>) | undefined;
}

export interface EmbeddedUsage extends DatabaseUsage {
  freeBytes: number;
}

/** What is read from the API's server at each scrape. */
export interface HttpSources {
  connections: { readonly open: ReadonlySet<unknown>; readonly counts: { evicted: number; refused: number } };
  responses: { unsentBytes: number; waitingBytes: number; refused: number };
}

export interface Metrics extends Observer {
  /** A request has been answered; `none` stands for all that is no operation of the contract. */
  request(operation: OperationId | 'none', status: number, seconds: number): void;
  /** A request was refused because its account has used up a quota. */
  quotaExceeded(quota: Quota): void;
  /** Looks at these too from now on: the stores are opened when there is somebody to tell how they do. */
  watch(sources: Sources): void;
  watchHttp(sources: HttpSources): void;
  /** In Prometheus's text format, which `contentType` names. */
  text(): Promise<string>;
  readonly contentType: string;
  close(): void;
}

/** One service's own metrics. Labels are names from the code and the contract: never a path, an id or anything a user sends. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['operation'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const storeSeconds = new Histogram({
    name: 'store_call_duration_seconds',
    help: 'Calls to a store: ok, unavailable (the store does not answer), or error.',
    labelNames: ['store', 'verb', 'outcome'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const batchSizes = new Histogram({
    name: 'batch_size',
    help: 'How many look-ups or writes went together.',
    labelNames: ['batch'],
    buckets: BATCH_SIZE_BUCKETS,
    registers,
  });
  const quotaRefusals = new Counter({
    name: 'quota_refusals_total',
    help: 'Requests refused because of a quota of their account.',
    labelNames: ['quota'],
    registers,
  });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers });
  const hashes = gauge('password_hashes', 'Argon2 hashes under way, and waiting for their turn.', 'state');
  const refusedHashes = new Counter({
    name: 'password_hashes_refused_total',
    help: 'Argon2 hashes refused: the queue was full, or the client left before it was their turn (abandoned).',
    labelNames: ['reason'],
    registers,
  });
  const securityEvents = new Counter({
    name: 'security_events_total',
    help: 'Security events, as they are logged.',
    labelNames: ['event'],
    registers,
  });
  const connections = gauge('postgres_pool_connections', 'Open connections to PostgreSQL.', 'pool', 'state');
  const queued = gauge('postgres_pool_waiting', 'Callers that wait for a connection to PostgreSQL.', 'pool');
  const waiting = gauge('outbox_waiting', 'What other stores have yet to follow.', 'kind');
  const overdue = gauge('outbox_overdue', 'What of it should have been delivered by now.', 'kind');
  const oldest = gauge('outbox_oldest_age_seconds', 'For how long the oldest of it has been waiting.', 'kind');
  const embeddedUsage: Record<keyof EmbeddedUsage, Gauge> = {
    databaseBytes: gauge('embedded_database_bytes', 'Size of the embedded database, without WAL.'),
    walBytes: gauge('embedded_wal_bytes', 'Size of its WAL.'),
    deadRows: gauge('embedded_dead_rows', 'Deleted or replaced rows that VACUUM has not removed yet.'),
    lastVacuumAt: gauge('embedded_last_vacuum_timestamp_seconds', 'When a table was last vacuumed; 0 before.'),
    lastCheckpointAt: gauge('embedded_last_checkpoint_timestamp_seconds', 'When a checkpoint was last made; 0 before.'),
    freeBytes: gauge('data_directory_free_bytes', 'What is free on the disk of DATA_DIR.'),
  };

  const openConnections = gauge('http_connections', 'Open connections of clients.');
  const closedConnections = new Counter({
    name: 'http_connections_closed_total',
    help: 'Connections closed by the limit: evicted (idle, to make room) or refused (all others in use).',
    labelNames: ['reason'],
    registers,
  });
  const unsentBytes = gauge('http_large_response_bytes', 'Bytes of large responses, unsent or waiting.', 'state');
  const refusedResponses = new Counter({
    name: 'http_large_responses_refused_total',
    help: 'Large responses refused since too many were unsent.',
    registers,
  });

  function lookAtHttp({ connections, responses }: HttpSources): void {
    openConnections.set(connections.open.size);
    closedConnections.reset();
    closedConnections.inc({ reason: 'evicted' }, connections.counts.evicted);
    closedConnections.inc({ reason: 'refused' }, connections.counts.refused);
    unsentBytes.set({ state: 'unsent' }, responses.unsentBytes);
    unsentBytes.set({ state: 'waiting' }, responses.waitingBytes);
    refusedResponses.reset();
    refusedResponses.inc(responses.refused);
  }

  async function look({ pools, backlog, embedded }: Sources): Promise<void> {
    for (const [pool, { total, idle, waiting }] of Object.entries(pools())) {
      connections.set({ pool, state: 'idle' }, idle);
      connections.set({ pool, state: 'used' }, total - idle);
      queued.set({ pool }, waiting);
    }
    // No value is better than an old one.
    const entries = await withDeadline(SCRAPE_TIMEOUT_MS, backlog()).catch(() => []);
    for (const each of [waiting, overdue, oldest]) each.reset();
    for (const { kind, ...counts } of entries) {
      waiting.set({ kind }, counts.waiting);
      overdue.set({ kind }, counts.overdue);
      oldest.set({ kind }, counts.age);
    }
    for (const each of Object.values(embeddedUsage)) each.reset();
    const usage = await (embedded && withDeadline(SCRAPE_TIMEOUT_MS, embedded()).catch(() => undefined));
    for (const [name, value] of Object.entries(usage ?? {})) embeddedUsage[name as keyof EmbeddedUsage].set(value);
  }

  let sources: Sources | undefined;
  let httpSources: HttpSources | undefined;
  return {
    contentType: registry.contentType,
    async text() {
      for (const [state, count] of Object.entries(hashing())) hashes.set({ state }, count);
      for (const each of [refusedHashes, securityEvents]) each.reset();
      for (const [reason, count] of Object.entries(hashesRefused())) refusedHashes.inc({ reason }, count);
      for (const [event, count] of countSecurityEvents()) securityEvents.inc({ event }, count);
      if (sources) await look(sources);
      if (httpSources) lookAtHttp(httpSources);
      return registry.metrics();
    },
    close: () => registry.clear(),
    watch(opened) {
      sources = opened;
    },
    watchHttp(opened) {
      httpSources = opened;
    },
    request(operation, status, seconds) {
      requests.inc({ operation, status });
      requestSeconds.observe({ operation }, seconds);
    },
    storeCall: (store, verb, seconds, outcome) => storeSeconds.observe({ store, verb, outcome }, seconds),
    quotaExceeded: (quota) => quotaRefusals.inc({ quota }),
    batch: (batch, size) => batchSizes.observe({ batch }, size),
  };
}
