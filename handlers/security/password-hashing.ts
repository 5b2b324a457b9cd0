import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import * as argon2 from '@node-rs/argon2';
import { createHashQueue, type Turn } from './hash-queue.js';

// Argon2id, which is the library's default, at OWASP's minimum.
const PARAMETERS = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

// One core stays free for the event loop, and one of libuv's four threads for files and name look-ups.
export const HASHES_AT_ONCE = Math.max(1, Math.min(availableParallelism() - 1, 3));
const queue = createHashQueue({ concurrency: HASHES_AT_ONCE });

/** How much hashing and verifying is under way, and how much of it waits for its turn. */
export const hashing = () => ({ running: queue.running, waiting: queue.waiting });

/** How many hashes were refused since the process started because too many were waiting, or because their clients left. */
export const hashesRefused = () => ({ full: queue.refused, abandoned: queue.abandoned });

const FIRST_LANE: Turn = { lane: 'login' };

/** A turn in which something is done right before and after a password is verified. `before` may throw to prevent it. */
export interface VerificationTurn extends Turn {
  before?(): void;
  after?(matches: boolean): Promise<void>;
}

/** The hash of a password that nobody knows: for a login whose address has no account, which takes as long as any other. */
export const DUMMY_HASH = argon2.hashSync(randomBytes(32), PARAMETERS);
const CURRENT_OPTIONS = argon2.parseOptions(DUMMY_HASH);

export function hashPassword(password: string, turn: Turn = FIRST_LANE): Promise<string> {
  return queue.run(turn, () => argon2.hash(password, PARAMETERS));
}

/** Rejects when the hash is not one: a malformed hash in the store is a fault, not a wrong password. */
export function verifyPassword(hash: string, password: string, turn: VerificationTurn = FIRST_LANE): Promise<boolean> {
  return queue.run(turn, async () => {
    turn.before?.();
    const matches = await argon2.verify(hash, password);
    await turn.after?.(matches);
    return matches;
  });
}

/** Whether the hash was made with other parameters than a new one would be. */
export function needsRehash(hash: string): boolean {
  return !isDeepStrictEqual(argon2.parseOptions(hash), CURRENT_OPTIONS);
}
