import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import * as argon2 from '@node-rs/argon2';
import { createHashQueue, type HashJobOptions } from './hash-queue.js';

// Argon2id, the library's default algorithm, with OWASP's minimum parameters.
const ARGON2_PARAMETERS = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

// Leaves one core for the event loop, and one of libuv's four threads for file system calls and DNS lookups.
export const HASH_CONCURRENCY = Math.max(1, Math.min(availableParallelism() - 1, 3));
const queue = createHashQueue({ concurrency: HASH_CONCURRENCY });

/** Returns how many hash and verification jobs are running and waiting. */
export const hashQueueLoad = () => ({ running: queue.running, waiting: queue.waiting });

/** Returns how many jobs were dropped since the process started, because the queue was full or the client disconnected. */
export const hashQueueRefusals = () => ({ full: queue.refused, abandoned: queue.abandoned });

const DEFAULT_JOB_OPTIONS: HashJobOptions = { lane: 'login' };

export interface VerifyOptions extends HashJobOptions {
  /** Runs before the verification, when the job leaves the queue. If it throws, the verification is skipped. */
  before?(): void;
  /** Runs after the verification, but before the next job with the same key starts. */
  after?(matches: boolean): Promise<void>;
}

/** The hash of a random password, to verify if an email address has no account, so that the login takes the same time. */
export const DUMMY_HASH = argon2.hashSync(randomBytes(32), ARGON2_PARAMETERS);
const CURRENT_PARAMETERS = argon2.parseOptions(DUMMY_HASH);

export function hashPassword(password: string, options: HashJobOptions = DEFAULT_JOB_OPTIONS): Promise<string> {
  return queue.run(options, () => argon2.hash(password, ARGON2_PARAMETERS));
}

/** Returns whether the password matches the hash. Throws if the hash is malformed. */
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

/** Returns whether the hash was created with other parameters than new hashes are. */
export function needsRehash(hash: string): boolean {
  return !isDeepStrictEqual(argon2.parseOptions(hash), CURRENT_PARAMETERS);
}
