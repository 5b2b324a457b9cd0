import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import * as argon2 from '@node-rs/argon2';
import { createHashQueue, type HashJobOptions } from './hash-queue.js';

/** The minimum parameters that OWASP recommends for Argon2id, the default algorithm of the library. `memoryCost` is in KiB. */
const ARGON2_PARAMETERS = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

/**
 * The number of hashes that run at the same time. Each one occupies a thread of libuv's pool, which has four by default. One
 * thread is left for file system calls and DNS lookups, and one core for the event loop.
 */
export const HASH_CONCURRENCY = Math.max(1, Math.min(availableParallelism() - 1, 3));
const queue = createHashQueue({ concurrency: HASH_CONCURRENCY });

/** Returns the numbers of running and waiting jobs. */
export const hashQueueLoad = () => ({ running: queue.running, waiting: queue.waiting });

/**
 * Returns how many jobs have been rejected since the process started: because the queue was full, or because the client
 * disconnected while the job was waiting.
 */
export const hashQueueRefusals = () => ({ full: queue.refused, abandoned: queue.abandoned });

const DEFAULT_JOB_OPTIONS: HashJobOptions = { lane: 'unauthenticated' };

interface VerifyOptions extends HashJobOptions {
  /** Called when the job leaves the queue, before the verification. If it throws, there is no verification. */
  before?(): void;
  /** Called after the verification, before the next job with the same key starts. */
  after?(matches: boolean): Promise<void>;
}

/** The hash of a random password. A login without an account is verified against it, so that it takes as long as any other. */
export const DUMMY_HASH = argon2.hashSync(randomBytes(32), ARGON2_PARAMETERS);
const CURRENT_PARAMETERS = argon2.parseOptions(DUMMY_HASH);

/** Hashes a password. @throws HttpError 503 if the queue is full, 499 if the client disconnects while the job is waiting */
export function hashPassword(password: string, options: HashJobOptions = DEFAULT_JOB_OPTIONS): Promise<string> {
  return queue.run(options, () => argon2.hash(password, ARGON2_PARAMETERS));
}

/** Returns whether a password matches a hash. Throws the same errors as `hashPassword`, and an error for a malformed hash. */
export function verifyPassword(
  hash: string,
  password: string,
  options: VerifyOptions = DEFAULT_JOB_OPTIONS,
): Promise<boolean> {
  return queue.run(options, async () => {
    options.before?.();
    const matches = await argon2.verify(hash, password);
    await options.after?.(matches);
    return matches;
  });
}

/** Returns whether a hash was created with other parameters than those for new hashes. */
export function needsRehash(hash: string): boolean {
  return !isDeepStrictEqual(argon2.parseOptions(hash), CURRENT_PARAMETERS);
}
