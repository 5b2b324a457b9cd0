import { percentile } from './statistics.js';

export interface Request {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Sends the form of `image.ts` instead of `body`. */
  upload?: true;
}

export interface Load {
  url: string;
  /** For each connection, the requests that it repeats in this order. Each connection has one request in flight. */
  connections: readonly (readonly Request[])[];
  seconds: number;
  /** Ends the load after this many requests instead. */
  maxRequests?: number | undefined;
}

/** @param latencies those of the responses with a 2xx status, in milliseconds */
export const loadResult = (
  latencies: readonly number[],
  seconds: number,
  failures: Record<string, number> = {},
  cpuSeconds = 0,
) => ({
  succeeded: latencies.length,
  /** Responses with a 2xx status per second. */
  rate: latencies.length / seconds,
  /** Latency percentiles in milliseconds. */
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
  /** The number of other outcomes, by status or error message. */
  failures,
  /** The CPU time of the load generator as a share of one core. */
  generatorCpu: cpuSeconds / seconds,
});

export type LoadResult = ReturnType<typeof loadResult>;
