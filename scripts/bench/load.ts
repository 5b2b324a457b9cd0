import { json } from 'node:stream/consumers';
import autocannon from 'autocannon';
import { percentile } from './statistics.js';

export interface LoadRequest {
  method: 'GET' | 'POST' | 'DELETE' | 'PUT';
  path: string;
  headers: Record<string, string>;
  /** In base64. */
  body?: string;
}

export type Turn = readonly LoadRequest[];

export interface LoadJob {
  url: string;
  inFlight: number;
  seconds: number;
  /** Ends earlier, once so many are answered. */
  amount?: number;
  /** Each is made by one connection, from its first request to its last, and then the next one. */
  turns: readonly Turn[];
}

export interface LoadResult {
  /** Answers with a status of 2xx, and how many of them each second. */
  answered: number;
  rate: number;
  /** In milliseconds. */
  p50: number;
  p99: number;
  /** What else was answered, by status, or not at all. */
  others: Record<string, number>;
  /** Which share of one core the generator itself took. */
  busy: number;
}

/** Takes a job from standard input, does it, and prints the result: the load generator, in a process of its own. */
const job = (await json(process.stdin)) as LoadJob;
const turns = job.turns.map((turn) =>
  turn.map(({ body, ...request }) => ({
    ...request,
    ...(body !== undefined && { body: Buffer.from(body, 'base64') }),
  })),
);

let connections = 0;
/** Every connection has its own share of the turns, so that all begin with different ones and all are taken. */
function shareOut(client: autocannon.Client): void {
  const index = connections;
  connections += 1;
  const share = turns.filter((_, each) => each % job.inFlight === index % turns.length);
  // autocannon keeps what it builds of a request beside it.
  client.setRequests(share.flat().map((request) => ({ ...request })));
}

const latencies: number[] = [];
const others: Record<string, number> = {};
const count = (what: string) => {
  others[what] = (others[what] ?? 0) + 1;
};

const cpu = process.cpuUsage();
const began = performance.now();
let ended = began;
const options = {
  url: job.url,
  connections: job.inFlight,
  ...(job.amount === undefined ? { duration: job.seconds } : { amount: Math.max(job.amount, job.inFlight) }),
  timeout: 30,
  // How soon it ends after its time.
  sampleInt: 100,
  setupClient: shareOut,
};
await new Promise<void>((resolve, reject) => {
  const run = autocannon(options, (error) => (error ? reject(error) : resolve()));
  run.on('response', (_client, status, _bytes, milliseconds) => {
    ended = performance.now();
    if (status >= 200 && status < 300) latencies.push(milliseconds);
    else count(String(status));
  });
  run.on('reqError', (error) => count(error.message));
});

const seconds = (ended - began) / 1000;
const { user, system } = process.cpuUsage(cpu);
const result: LoadResult = {
  answered: latencies.length,
  rate: latencies.length / seconds,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
  others,
  busy: (user + system) / 1e6 / seconds,
};
console.log(JSON.stringify(result));
