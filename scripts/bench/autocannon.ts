/** The load generator that uses autocannon. It reads a `Load` from standard input, and prints a `LoadResult`. */
import { json } from 'node:stream/consumers';
import autocannon from 'autocannon';
import { uploadForm } from './image.js';
import type { BenchRequest, Load, LoadResult } from './load.js';
import { median, percentile } from './statistics.js';

const { url, connections, seconds, maxRequests } = (await json(process.stdin)) as Load;
// The body and its type, with the boundary of its parts, as `fetch` would send them.
const form = new Response(uploadForm());
const formType = form.headers.get('content-type') ?? '';
const formBytes = Buffer.from(await form.arrayBuffer());

const toAutocannon = ({ method, path, headers, body, upload }: BenchRequest): autocannon.Request =>
  upload
    ? { method, path, headers: { 'Content-Type': formType, ...headers }, body: formBytes }
    : { method, path, headers, ...(body !== undefined && { body }) };

const latencies: number[] = [];
const failures: Record<string, number> = {};
const countFailure = (outcome: string) => {
  failures[outcome] = (failures[outcome] ?? 0) + 1;
};

let connectionCount = 0;
const options: autocannon.Options = {
  url,
  connections: connections.length,
  ...(maxRequests === undefined ? { duration: seconds } : { amount: Math.max(maxRequests, connections.length) }),
  timeout: 30,
  // The interval, in milliseconds, at which autocannon checks whether the duration has passed.
  sampleInt: 100,
  setupClient(client) {
    client.setRequests((connections[connectionCount] ?? []).map(toAutocannon));
    connectionCount += 1;
  },
};

const cpu = process.resourceUsage();
const startedAt = performance.now();
let endedAt = startedAt;
await new Promise<void>((resolve, reject) => {
  const run = autocannon(options, (error) => (error ? reject(error) : resolve()));
  run.on('response', (_client, status, _bytes, milliseconds) => {
    endedAt = performance.now();
    if (status >= 200 && status < 300) latencies.push(milliseconds);
    else countFailure(String(status));
  });
  run.on('reqError', (error) => countFailure(error.message));
});
const { userCPUTime, systemCPUTime } = process.resourceUsage();
const cpuMs = (userCPUTime + systemCPUTime - cpu.userCPUTime - cpu.systemCPUTime) / 1000;
const elapsedMs = endedAt - startedAt;
const result: LoadResult = {
  succeeded: latencies.length,
  rate: (1000 * latencies.length) / elapsedMs,
  p50: median(latencies),
  p99: percentile(latencies, 0.99),
  failures,
  generatorCpu: cpuMs / elapsedMs,
};
console.log(JSON.stringify(result));
