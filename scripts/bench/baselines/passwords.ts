/** B2: @node-rs/argon2 alone, verifying the same password repeatedly with the concurrency of the service. */
import { json } from 'node:stream/consumers';
import { verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { HASH_CONCURRENCY } from '../../../handlers/security/password-hashing.js';
import type { Measurement } from '../measure.js';
import { percentile } from '../statistics.js';

/** The input, as JSON on standard input. */
export interface PasswordJob {
  hash: string;
  password: string;
  inFlight: number;
  seconds: number;
}

const { hash, password, inFlight, seconds } = (await json(process.stdin)) as PasswordJob;
if (await verify(hash, `${password}?`)) throw new Error('The wrong password was accepted');

const limit = pLimit(HASH_CONCURRENCY);
const latencies: number[] = [];
const cpu = process.cpuUsage();
const startedAt = performance.now();
const endsAt = startedAt + seconds * 1000;

async function verifyRepeatedly(): Promise<void> {
  while (performance.now() < endsAt) {
    const callStartedAt = performance.now();
    if (!(await limit(() => verify(hash, password)))) throw new Error('The correct password was rejected');
    latencies.push(performance.now() - callStartedAt);
  }
}

await Promise.all(Array.from({ length: inFlight }, verifyRepeatedly));
const elapsedSeconds = (performance.now() - startedAt) / 1000;
const { user, system } = process.cpuUsage(cpu);
console.log(
  JSON.stringify({
    rate: latencies.length / elapsedSeconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    failures: {},
    cpuMs: (user + system) / 1000 / latencies.length,
    rssBytes: process.memoryUsage.rss(),
    generatorCpuShare: 0,
  } satisfies Measurement),
);
