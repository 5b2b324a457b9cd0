import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Backlog } from '../../db/backlog.js';
import type { Observer } from '../../db/observer.js';
import type { OperationId } from '../../generated/handlers.js';
import { hashing } from '../password-hash.js';
import { withDeadline } from './deadline.js';

/** From a look-up in memory to a store's deadline and beyond, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Up to the longest batch. */
const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** How long a scrape waits for PostgreSQL, in milliseconds. What has no value by then is left out. */
const PATIENCE = 1000;

/** What is looked at when somebody asks, and not before. */
export interface Sources {
  /** The connections of each pool, by its name. */
  pools(): Record<string, { total: number; idle: number; waiting: number }>;
  backlog(): Promise<Backlog[]>;
}

export interface Metrics extends Observer {
  /** A request has been answered; `none` stands for all that is no operation of the contract. */
  request(operation: OperationId | 'none', status: number, seconds: number): void;
  /** Looks at these too from now on: the stores are opened when there is somebody to tell how they do. */
  watch(sources: Sources): void;
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
    buckets: SECONDS,
    registers,
  });
  const storeSeconds = new Histogram({
    name: 'store_call_duration_seconds',
    help: 'Calls to a store: ok, unavailable (the store does not answer), or error.',
    labelNames: ['store', 'verb', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const batchSizes = new Histogram({
    name: 'batch_size',
    help: 'How many look-ups or writes went together.',
    labelNames: ['batch'],
    buckets: SIZES,
    registers,
  });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers });
  const hashes = gauge('password_hashes', 'Argon2 hashes under way, and waiting for their turn.', 'state');
  const connections = gauge('postgres_pool_connections', 'Open connections to PostgreSQL.', 'pool', 'state');
  const queued = gauge('postgres_pool_waiting', 'Callers that wait for a connection to PostgreSQL.', 'pool');
  const waiting = gauge('outbox_waiting', 'What other stores have yet to follow.', 'kind');
  const overdue = gauge('outbox_overdue', 'What of it should have been delivered by now.', 'kind');
  const oldest = gauge('outbox_oldest_age_seconds', 'For how long the oldest of it has been waiting.', 'kind');

  async function look({ pools, backlog }: Sources): Promise<void> {
    for (const [pool, { total, idle, waiting }] of Object.entries(pools())) {
      connections.set({ pool, state: 'idle' }, idle);
      connections.set({ pool, state: 'used' }, total - idle);
      queued.set({ pool }, waiting);
    }
    // No value is better than an old one.
    const entries = await withDeadline(PATIENCE, backlog()).catch(() => []);
    for (const each of [waiting, overdue, oldest]) each.reset();
    for (const { kind, ...counts } of entries) {
      waiting.set({ kind }, counts.waiting);
      overdue.set({ kind }, counts.overdue);
      oldest.set({ kind }, counts.age);
    }
  }

  let sources: Sources | undefined;
  return {
    contentType: registry.contentType,
    async text() {
      for (const [state, count] of Object.entries(hashing())) hashes.set({ state }, count);
      if (sources) await look(sources);
      return registry.metrics();
    },
    close: () => registry.clear(),
    watch(opened) {
      sources = opened;
    },
    request(operation, status, seconds) {
      requests.inc({ operation, status });
      requestSeconds.observe({ operation }, seconds);
    },
    storeCall: (store, verb, seconds, outcome) => storeSeconds.observe({ store, verb, outcome }, seconds),
    batch: (batch, size) => batchSizes.observe({ batch }, size),
  };
}
