export interface BenchRequest {
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
  connections: readonly (readonly BenchRequest[])[];
  seconds: number;
  /** Ends the load after this many requests instead. */
  maxRequests?: number | undefined;
}

export interface LoadResult {
  /** The number of responses with a 2xx status, and how many there were per second. */
  succeeded: number;
  rate: number;
  /** Percentiles of their latencies, in milliseconds. */
  p50: number;
  p99: number;
  /** The number of other outcomes, by status or error message. */
  failures: Record<string, number>;
  /** The CPU time of the load generator as a share of one core. */
  generatorCpu: number;
}
