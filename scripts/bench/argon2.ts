/**
 * The baseline for logins: verifies a password, with the parameters and the concurrency of the service. Like a load generator,
 * it reads a `Load` from standard input and prints a `LoadResult`, but it sends no requests.
 */
import { json } from 'node:stream/consumers';
import { verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { HASH_CONCURRENCY, hashPassword } from '../../handlers/security/password-hashing.js';
import { type Load, loadResult } from './load.js';

const { connections, seconds } = (await json(process.stdin)) as Load;
const password = 'Quiet-Harbour-27';
const hash = await hashPassword(password);
const limit = pLimit(HASH_CONCURRENCY);
const latencies: number[] = [];
const startedAt = performance.now();

async function verifyRepeatedly(): Promise<void> {
  while (performance.now() < startedAt + seconds * 1000) {
    const callStartedAt = performance.now();
    if (!(await limit(() => verify(hash, password)))) throw new Error('The correct password was rejected');
    latencies.push(performance.now() - callStartedAt);
  }
}

await Promise.all(connections.map(verifyRepeatedly));
console.log(JSON.stringify(loadResult(latencies, (performance.now() - startedAt) / 1000)));
