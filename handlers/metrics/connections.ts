import { Counter, Gauge, type Registry } from 'prom-client';

/** The current state of the API server. It is read at each scrape. */
export interface ConnectionSources {
  connections: ReadonlySet<unknown>;
  /** The usage of each budget for large responses, in bytes. */
  responses: readonly { running: number; waiting: number; refused: number }[];
}

/** Defines the metrics of client connections and large responses. */
export function defineConnectionMetrics(registry: Registry, { connections, responses }: ConnectionSources): void {
  const registers = [registry];
  new Gauge({
    name: 'http_connections',
    help: 'Open client connections.',
    registers,
    collect() {
      this.set(connections.size);
    },
  });
  new Gauge({
    name: 'http_large_response_bytes',
    help: 'Bytes of large responses that are being sent (unsent) or queued (waiting).',
    labelNames: ['state'],
    registers,
    collect() {
      this.reset();
      for (const { running, waiting } of responses) {
        this.inc({ state: 'unsent' }, running);
        this.inc({ state: 'waiting' }, waiting);
      }
    },
  });
  new Counter({
    name: 'http_large_responses_refused_total',
    help: 'Large responses refused because too many were unsent.',
    registers,
    collect() {
      this.reset();
      for (const { refused } of responses) this.inc(refused);
    },
  });
}
