/** Y2: @node-rs/argon2 alone, checking one password again and again, as many at once as the service does. */
import { json } from 'node:stream/consumers';
import { verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { HASHES_AT_ONCE } from '../../../handlers/security/password-hashing.js';
import { percentile } from '../statistics.js';

export interface PasswordJob {
  hash: string;
  password: string;
  inFlight: number;
  seconds: number;
}

const { hash, password, inFlight, seconds } = (await json(process.stdin)) as PasswordJob;
if (await verify(hash, `${password}?`)) throw new Error('a wrong password is right');

const limit = pLimit(HASHES_AT_ONCE);
const latencies: number[] = [];
const cpu = process.cpuUsage();
const began = performance.now();
const end = began + seconds * 1000;

async function call(): Promise<void> {
  while (performance.now() < end) {
    const asked = performance.now();
    if (!(await limit(() => verify(hash, password)))) throw new Error('the right password is wrong');
    latencies.push(performance.now() - asked);
  }
}

await Promise.all(Array.from({ length: inFlight }, call));
const took = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(cpu);
console.log(
  JSON.stringify({
    rate: latencies.length / took,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    others: {},
    cpu: (user + system) / 1000 / latencies.length,
    memory: process.memoryUsage.rss(),
    busy: 0,
  }),
);
