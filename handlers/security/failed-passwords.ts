import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { KEY_PREFIX, type RedisConnection } from '../../db/redis.js';
import { createWindowCounters } from '../../db/window-counters.js';
import { tooManyFailedPasswords } from '../http/errors.js';

/*
 * Limits failed passwords per subject (an account, or an email address without an account) in fixed windows of an hour.
 *
 * Failures are counted in Redis, which all processes share, and in memory. While Redis is unavailable, or without it, each
 * process uses its own count. A success does not reset the count: otherwise an attacker who knows the password or has a
 * session of the account could reset it at will.
 */

export interface FailedPasswords {
  /** Checks the counts in memory and in Redis. @throws HttpError 429 if the limit is reached */
  check(subject: string): Promise<void>;
  /** Checks the count in memory only. @throws HttpError 429 if the limit is reached */
  recheck(subject: string): void;
  /** Counts a failure. Returns whether this failure reached the limit. */
  record(subject: string): Promise<boolean>;
}

const WINDOW_MS = 60 * 60 * 1000;

/** The maximum number of counts in memory. Each failure costs a password hash, so an attacker cannot evict many counts. */
const MAX_SUBJECTS = 100_000;

interface Count {
  failures: number;
  /** The end of the window, in milliseconds since 1970. */
  endsAt: number;
}

const keyOf = (subject: string) => `failed-passwords:${subject}`;

export function createFailedPasswords(maxFailures: number, redis: RedisConnection | undefined): FailedPasswords {
  const counts = new LRUCache<string, Count>({ max: MAX_SUBJECTS });
  const counters = redis && createWindowCounters(redis);

  function currentCount(subject: string): Count | undefined {
    const count = counts.get(subject);
    return count && count.endsAt > Date.now() ? count : undefined;
  }

  /**
   * Replaces the count in memory by one from Redis, unless that one is lower: failures that were counted while Redis was
   * unavailable are missing in it.
   */
  function mergeShared(subject: string, failures: number, ttlMs: number): void {
    const known = currentCount(subject);
    if (!known || failures >= known.failures) counts.set(subject, { failures, endsAt: Date.now() + ttlMs });
  }

  function recheck(subject: string): void {
    const count = currentCount(subject);
    if (!count || count.failures < maxFailures) return;
    const seconds = Math.ceil((count.endsAt - Date.now()) / 1000);
    throw tooManyFailedPasswords(seconds);
  }

  return {
    recheck,

    async check(subject) {
      recheck(subject);
      if (!redis) return;
      const [failures, ttlMs] = await redis
        .run('readFailures', async (client) => {
          const key = KEY_PREFIX + keyOf(subject);
          const failures = Number(await client.get(key));
          return [failures, failures < maxFailures ? 0 : await client.pttl(key)] as const;
        })
        .catch(() => [0, 0] as const);
      if (failures >= maxFailures && ttlMs > 0) mergeShared(subject, failures, ttlMs);
      recheck(subject);
    },

    async record(subject) {
      const known = currentCount(subject);
      const failures = (known?.failures ?? 0) + 1;
      counts.set(subject, { failures, endsAt: known?.endsAt ?? Date.now() + WINDOW_MS });
      const shared = await counters?.increment(keyOf(subject), WINDOW_MS).catch(() => undefined);
      if (shared) mergeShared(subject, shared.count, shared.ttlMs);
      return (shared?.count ?? failures) === maxFailures;
    },
  };
}

/** Returns the subject whose failures are counted: the account, or a hash of the email address if there is no account. */
export const subjectOf = (account: { id: number } | undefined, email = ''): string =>
  account ? `account:${account.id}` : `email:${createHash('sha256').update(email).digest('base64url')}`;
