import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PREFIX, type RedisConnection } from '../../db/redis.js';
import { tooManyRequests } from '../http/errors.js';

/**
 * Counts the failed passwords of each account, and of each email address that has none, in windows of an hour. A success does
 * not reset the count: otherwise an attacker who shares the account, or has a session of it, could reset it at will.
 */
export interface FailedPasswords {
  /** Asks Redis too. @throws HttpError 429 */
  check(subject: string): Promise<void>;
  /** Checks what this process knows. @throws HttpError 429 */
  recheck(subject: string): void;
  /** Counts a failure. Returns whether it was the last one allowed. */
  record(subject: string): Promise<boolean>;
}

const WINDOW_MS = 60 * 60 * 1000;

/** How many subjects are remembered in memory. Each of them took a password hash, so an attacker cannot replace many. */
const MAX_SUBJECTS = 100_000;

interface Count {
  failures: number;
  /** By this process's clock, in milliseconds. */
  endsAt: number;
}

/** Returns the count of KEYS[1] after this failure, and for how many milliseconds it still holds. */
const RECORD = `
  local failures = redis.call('incr', KEYS[1])
  if redis.call('pttl', KEYS[1]) < 0 then redis.call('pexpire', KEYS[1], ARGV[1]) end
  return { failures, redis.call('pttl', KEYS[1]) }`;

const keyOf = (subject: string) => `${PREFIX}failed-passwords:${subject}`;

/** Counts in Redis, where all processes count together, and in memory, which serves alone while Redis is unavailable. */
export function createFailedPasswords(max: number, redis: RedisConnection | undefined): FailedPasswords {
  const counts = new LRUCache<string, Count>({ max: MAX_SUBJECTS });

  function currentCount(subject: string): Count | undefined {
    const count = counts.get(subject);
    return count && count.endsAt > Date.now() ? count : undefined;
  }

  /** Two processes may each know failures that the other does not: the higher count is right. */
  function merge(subject: string, failures: number, ttlMs: number): void {
    const known = currentCount(subject);
    if (!known || failures >= known.failures) counts.set(subject, { failures, endsAt: Date.now() + ttlMs });
  }

  function recheck(subject: string): void {
    const count = currentCount(subject);
    if (!count || count.failures < max) return;
    const seconds = Math.ceil((count.endsAt - Date.now()) / 1000);
    throw tooManyRequests(seconds, 'Too many failed passwords. Try again later.');
  }

  return {
    recheck,

    async check(subject) {
      recheck(subject);
      if (!redis) return;
      const [failures, ttlMs] = await redis
        .run('readFailures', async (client) => {
          const failures = Number(await client.get(keyOf(subject)));
          return [failures, failures < max ? 0 : await client.pttl(keyOf(subject))] as const;
        })
        .catch(() => [0, 0] as const);
      if (failures >= max && ttlMs > 0) merge(subject, failures, ttlMs);
      recheck(subject);
    },

    async record(subject) {
      const known = currentCount(subject);
      const failures = (known?.failures ?? 0) + 1;
      counts.set(subject, { failures, endsAt: known?.endsAt ?? Date.now() + WINDOW_MS });
      const shared = await redis
        ?.run(
          'recordFailure',
          (client) => client.eval(RECORD, 1, keyOf(subject), WINDOW_MS) as Promise<[number, number]>,
        )
        .catch(() => undefined);
      if (shared) merge(subject, ...shared);
      return (shared?.[0] ?? failures) === max;
    },
  };
}

/** Whose failures are counted together: those of an account, or of an email address that has none. */
export const subjectOf = (account: { id: number } | undefined, email = ''): string =>
  account ? `account:${account.id}` : `email:${createHash('sha256').update(email).digest('base64url')}`;
