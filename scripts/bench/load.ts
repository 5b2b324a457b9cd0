/**
 * The load generator. It runs in its own process, so that it does not share an event loop with the servers. It reads
 * a `LoadJob` from standard input, runs it, and prints a `LoadResult`.
 */
import { json } from 'node:stream/consumers';
import autocannon from 'autocannon';
import { percentile } from './statistics.js';

export interface LoadRequest {
  method: 'GET' | 'POST' | 'DELETE' | 'PUT';
  path: string;
  headers: Record<string, string>;
  bodyBase64?: string;
}

/** Requests that one connection sends in this order. */
export type RequestSequence = readonly LoadRequest[];

export interface LoadJob {
  url: string;
  /** The number of connections, each with one request in flight. */
  inFlight: number;
  /** The duration, unless `maxRequests` is set. */
  seconds: number;
  /** Ends the run after this many requests instead. */
  maxRequests?: number;
  /** Distributed over the connections; each connection repeats its sequences. */
  sequences: readonly RequestSequence[];
}

export interface LoadResult {
  /** The number of responses with a 2xx status. */
  succeeded: number;
  /** Responses with a 2xx status per second. */
  rate: number;
  /** Latency percentiles in milliseconds. */
  p50: number;
  p99: number;
  /** The number of other outcomes, by status or error message. */
  failures: Record<string, number>;
  /** The CPU time of the load generator as a share of one core. */
  generatorCpuShare: number;
}

const job = (await json(process.stdin)) as LoadJob;
const sequences = job.sequences.map((sequence) =>
  sequence.map(({ bodyBase64, ...request }) => ({
    ...request,
    ...(bodyBase64 !== undefined && { body: Buffer.from(bodyBase64, 'base64') }),
  })),
);

let connections = 0;
/** Distributes the sequences over the connections. Connections share sequences if there are more connections than sequences. */
function assignSequences(client: autocannon.Client): void {
  const index = connections;
  connections += 1;
  const assigned = sequences.filter((_, sequenceIndex) => sequenceIndex % job.inFlight === index % sequences.length);
  // Copies, because autocannon modifies the request objects.
  client.setRequests(assigned.flat().map((request) => ({ ...request })));
}

const latencies: number[] = [];
const failures: Record<string, number> = {};
const countFailure = (outcome: string) => {
  failures[outcome] = (failures[outcome] ?? 0) + 1;
};

const cpu = process.cpuUsage();
const startedAt = performance.now();
let endedAt = startedAt;
const options = {
  url: job.url,
  connections: job.inFlight,
  ...(job.maxRequests === undefined ? { duration: job.seconds } : { amount: Math.max(job.maxRequests, job.inFlight) }),
  timeout: 30,
  // The interval, in milliseconds, at which autocannon checks whether the duration has passed.
  sampleInt: 100,
  setupClient: assignSequences,
};
await new Promise<void>((resolve, reject) => {
  const run = autocannon(options, (error) => (error ? reject(error) : resolve()));
  run.on('response', (_client, status, _bytes, milliseconds) => {
    endedAt = performance.now();
    if (status >= 200 && status < 300) latencies.push(milliseconds);
    else countFailure(String(status));
  });
  run.on('reqError', (error) => countFailure(error.message));
});

const seconds = (endedAt - startedAt) / 1000;
const { user, system } = process.cpuUsage(cpu);
const result: LoadResult = {
  succeeded: latencies.length,
  rate: latencies.length / seconds,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
  failures,
  generatorCpuShare: (user + system) / 1e6 / seconds,
};
console.log(JSON.stringify(result));
