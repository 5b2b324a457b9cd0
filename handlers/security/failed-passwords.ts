import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '../../db/redis/index.js';
import { createWindowCounters, type WindowCount } from '../../db/redis/window-counters.js';
import { tooManyFailedPasswords } from '../errors.js';

/*
 * Limits failed passwords. The failures of each subject are counted in fixed windows of an hour. A subject is an account,
 * or an email address that has no account.
 *
 * Failures are counted in Redis, where all processes share the counts, and also in memory. Without Redis, or while it is
 * unavailable, each process uses its own counts.
 *
 * A correct password does not reset the count. Otherwise every login of the account's owner would give an attacker further
 * attempts.
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

/** The maximum number of counts in memory. Each failure costs a password hash, so an attacker can evict counts only slowly. */
const MAX_SUBJECTS = 100_000;

/** Returns the key of a subject's counter in Redis. */
const keyOf = (subject: string) => `failed-passwords:${subject}`;

export function createFailedPasswords(maxFailures: number, redis: RedisConnection | undefined): FailedPasswords {
  /** The counts in memory, by subject. A count expires when its window ends. */
  const counts = new LRUCache<string, number>({ max: MAX_SUBJECTS, ttlResolution: 0 });
  const sharedCounters = redis && createWindowCounters(redis);

  /**
   * Replaces the count in memory with the count in Redis, unless the latter is lower: while Redis is unavailable, failures are
   * counted only in memory.
   */
  function mergeShared(subject: string, { count, ttlMs }: WindowCount): void {
    if (count >= (counts.get(subject) ?? 0)) counts.set(subject, count, { ttl: Math.max(ttlMs, 1) });
  }

  function recheck(subject: string): void {
    if ((counts.get(subject) ?? 0) < maxFailures) return;
    throw tooManyFailedPasswords(Math.ceil(counts.getRemainingTTL(subject) / 1000));
  }

  return {
    recheck,

    async check(subject) {
      recheck(subject);
      const shared = await sharedCounters?.read(keyOf(subject)).catch(() => undefined);
      if (shared && shared.count >= maxFailures) mergeShared(subject, shared);
      recheck(subject);
    },

    async record(subject) {
      const failures = (counts.get(subject) ?? 0) + 1;
      counts.set(subject, failures, { ttl: WINDOW_MS, noUpdateTTL: true });
      const shared = await sharedCounters?.increment(keyOf(subject), WINDOW_MS).catch(() => undefined);
      if (shared) mergeShared(subject, shared);
      return Math.max(failures, shared?.count ?? 0) === maxFailures;
    },
  };
}

/** Returns the subject whose failures are counted: the account, or the email address (as a hash) if it has no account. */
export const subjectOf = (account: { id: number } | undefined, email = ''): string =>
  account ? `account:${account.id}` : `email:${createHash('sha256').update(email).digest('base64url')}`;
