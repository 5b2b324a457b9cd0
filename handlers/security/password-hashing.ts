import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import * as argon2 from '@node-rs/argon2';
import { BoundedQueue } from '../../db/support/bounded-queue.js';

/** The minimum parameters that OWASP recommends for Argon2id, the default algorithm of the library. `memoryCost` is in KiB. */
const ARGON2_PARAMETERS = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

/**
 * The number of hashes that run at the same time. Each one occupies a thread of libuv's pool, which has four by default. One
 * thread is left for file system calls and DNS lookups, and one core for the event loop.
 */
export const HASH_CONCURRENCY = Math.max(1, Math.min(availableParallelism() - 1, 3));

/**
 * The queue of all hashes of this process. Logins and registrations wait in one lane, authenticated users in the other. A hash
 * takes about 15 ms of a core, so a full queue is about as long as the maximum waiting time.
 */
export const hashQueue = new BoundedQueue({
  maxRunning: HASH_CONCURRENCY,
  maxRunningPerKey: 1,
  maxWaiting: 100 * HASH_CONCURRENCY,
  maxWaitMs: 2000,
});

export interface HashOptions {
  lane: 'unauthenticated' | 'authenticated';
  /** Hashes with the same key run one after another. */
  key?: string | undefined;
  /** Aborts if the client disconnects: a waiting hash is then abandoned. */
  signal?: AbortSignal | undefined;
}

/** The hash of a random password. A login without an account is verified against it, so that it takes as long as any other. */
export const DUMMY_HASH = argon2.hashSync(randomBytes(32), ARGON2_PARAMETERS);
const CURRENT_PARAMETERS = argon2.parseOptions(DUMMY_HASH);

/** Hashes a password in the queue. @throws OverloadedError, ClientDisconnectedError */
export const hashPassword = (password: string, options: HashOptions = { lane: 'unauthenticated' }): Promise<string> =>
  hashQueue.run(options, () => argon2.hash(password, ARGON2_PARAMETERS));

/**
 * Returns whether a password matches a hash. Not queued: call it in a job of `hashQueue`. A hash that cannot be read, which
 * another program has written, matches no password. This takes as long as a wrong password.
 */
export async function verifyPassword(hash: string, password: string): Promise<boolean> {
  try {
    return await argon2.verify(hash, password);
  } catch {
    await argon2.verify(DUMMY_HASH, password);
    return false;
  }
}

/** Returns whether the parameters of a hash differ from those for new hashes. */
export function needsRehash(hash: string): boolean {
  return !isDeepStrictEqual(argon2.parseOptions(hash), CURRENT_PARAMETERS);
}
