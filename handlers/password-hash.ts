import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import * as argon2 from '@node-rs/argon2';
import pLimit from 'p-limit';

// Argon2id, which is the library's default, at OWASP's minimum.
const PARAMETERS = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

// One core stays free for the event loop, and one of libuv's four threads for files and name look-ups.
export const HASHES_AT_ONCE = Math.max(1, Math.min(availableParallelism() - 1, 3));
const limit = pLimit(HASHES_AT_ONCE);

/** How much hashing and verifying is under way, and how much of it waits for its turn. */
export const hashing = () => ({ running: limit.activeCount, waiting: limit.pendingCount });

/** The hash of a password that nobody knows. */
const DECOY = argon2.hashSync(randomBytes(32), PARAMETERS);
const DECOY_OPTIONS = argon2.parseOptions(DECOY);

export function hashPassword(password: string): Promise<string> {
  return limit(() => argon2.hash(password, PARAMETERS));
}

/** Rejects when the hash is not one: a malformed hash in the store is a fault, not a wrong password. */
export function verifyPassword(hash: string, password: string): Promise<boolean> {
  return limit(() => argon2.verify(hash, password));
}

/** As slow as `verifyPassword`, and false: for a login whose address has no account. */
export function verifyNothing(password: string): Promise<boolean> {
  return verifyPassword(DECOY, password);
}

/** Whether the hash was made with other parameters than a new one would be. */
export function needsRehash(hash: string): boolean {
  return !isDeepStrictEqual(argon2.parseOptions(hash), DECOY_OPTIONS);
}
