import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observer } from '../../db/support/observer.js';
import type { OperationId } from '../../generated/types.js';
import { ERROR_STATUSES } from '../error-codes.js';
import { COMMIT, VERSION } from '../version.js';
import { DURATION_BUCKETS_SECONDS } from './buckets.js';
import { type ConnectionSources, defineConnectionMetrics } from './connections.js';
import { defineSecurityMetrics } from './security.js';
import { createStoreObserver, defineStoreMetrics, type StoreSources } from './stores.js';

export interface Metrics extends Observer {
  /**
   * Records a request. `operation` is `none` if the request matches no operation of the contract. `status` is 499 if the
   * connection closed before the response started. The duration of a 499 is not recorded: it mostly depends on the client.
   */
  recordRequest(operation: OperationId | 'none', status: number, seconds: number): void;
  /** Records a request that was refused because of the storage quota of its account. */
  storageQuotaExceeded(): void;
  /** Records the id of the key that signs tokens. */
  signingKey(id: string): void;
  /** Adds the metrics of the stores. A separate call, because the metrics are already needed to open the stores. */
  watchStores(sources: StoreSources): void;
  /** Adds the metrics of the connections and large responses of the API server. */
  watchConnections(sources: ConnectionSources): void;
  /** Returns all metrics in Prometheus's text format. */
  text(): Promise<string>;
  readonly contentType: string;
  close(): void;
}

/** Creates the metrics of a service. Label values are names from the code and the contract, never paths, ids or user input. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  defineSecurityMetrics(registry);

  const info = (name: string, help: string, labels: Record<string, string>) =>
    new Gauge({ name, help, labelNames: Object.keys(labels), registers }).set(labels, 1);
  info('build_info', 'The version of the service, and the commit from which it was built.', {
    version: VERSION,
    commit: COMMIT,
  });
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests, by status; 499 if the connection closed before the response started.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response.',
    labelNames: ['operation'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const quotaRefusals = new Counter({
    name: 'quota_refusals_total',
    help: 'Requests refused because of a quota of their account.',
    labelNames: ['quota'],
    registers,
  });
  // Starts the counter at 0. If it first appeared with 1, Prometheus would not see the first increase.
  quotaRefusals.inc({ quota: 'storage' }, 0);

  return {
    ...createStoreObserver(registry),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    close: () => registry.clear(),
    signingKey: (id) => info('signing_key_info', 'The id of the key that signs tokens.', { kid: id }),
    watchStores: (sources) => defineStoreMetrics(registry, sources),
    watchConnections: (sources) => defineConnectionMetrics(registry, sources),
    recordRequest(operation, status, seconds) {
      requests.inc({ operation, status });
      if (status !== ERROR_STATUSES.client_closed_request) requestSeconds.observe({ operation }, seconds);
    },
    storageQuotaExceeded: () => quotaRefusals.inc({ quota: 'storage' }),
  };
}
