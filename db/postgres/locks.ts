import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { StoreUnavailableError } from '../support/errors.js';
import type { DatabaseTransaction } from './index.js';

/*
 * PostgreSQL advisory locks on accounts and posts, held until the transaction ends. They serialize changes that involve several
 * stores.
 *
 * Shared locks: taken by writes for which an account or post must continue to exist (likes, changes of friendships, new
 * sessions, new and edited posts, edited accounts). Exclusive locks: taken by deletions, and by the removal of their nodes in
 * the graph.
 *
 * Order: every transaction locks accounts by ascending id, then posts by ascending id, so that these locks cannot deadlock
 * (row locks can: see `retryDeadlocks`). If the graph consists of tables, a trigger on likes takes one more lock last.
 *
 * Fairness: advisory locks are granted in the order in which they were requested. With row locks, a stream of likes could
 * starve a deletion.
 *
 * Keys: 2 * id for an account, 2 * id + 1 for a post, -1 for migrations (`MIGRATION_LOCK_KEY`), and -2 for likes in the graph
 * tables (migration 0004). The locks of `tryLock` have two 32-bit keys, which cannot collide with a 64-bit key.
 *
 * While a transaction is open, use only its own connection. The embedded PostgreSQL has a single connection, so a statement
 * outside the transaction would wait for the transaction forever.
 */

/** The key of the lock under which the stores are migrated. It is negative, because the keys of accounts and posts are not. */
export const MIGRATION_LOCK_KEY = -1;

/** The ids of the accounts and posts to lock. */
interface LockedIds {
  accounts?: readonly number[];
  posts?: readonly number[];
}

/** Returns the lock keys in lock order. */
const keysOf = ({ accounts = [], posts = [] }: LockedIds): string[] => [
  ...sorted(accounts).map((id) => String(2n * BigInt(id))),
  ...sorted(posts).map((id) => String(2n * BigInt(id) + 1n)),
];

const sorted = (ids: readonly number[]) => [...new Set(ids)].sort((a, b) => a - b);

/** Takes shared locks. Waits while other transactions hold exclusive ones. */
export async function lockShared(trx: DatabaseTransaction, locked: LockedIds): Promise<void> {
  await sharedLocks(locked).execute(trx);
}

/**
 * Builds a query that takes shared locks, for a statement of its own or as a part of another. It returns one row, so that all
 * locks are taken before the rest of the statement locks any row.
 */
export const sharedLocks = (locked: LockedIds) => sql`
  select count(*)
  from (select pg_advisory_xact_lock_shared(key) from unnest(${keysOf(locked)}::int8[]) as key) as locks`;

/**
 * Builds a query that locks an author's account, shared, and then those of the posts that are the author's: a wait for the lock of
 * another's post would reveal that it exists. It returns one row, as `sharedLocks`.
 */
export const ownPostLocks = (author: number, posts: readonly number[], mode: 'shared' | 'exclusive') => sql`
  select count(*)
  from (
    select pg_advisory_xact_lock_shared(2 * author_id),
      ${mode === 'shared' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`}(2 * id + 1)
    from (select id, author_id from posts where id = any(${posts}::int8[]) and author_id = ${author} order by id) as own
  ) as locks`;

/** Takes exclusive locks. Waits while other transactions hold shared or exclusive ones. */
export async function lockExclusive(trx: DatabaseTransaction, locked: LockedIds): Promise<void> {
  await sql`select pg_advisory_xact_lock(key) from unnest(${keysOf(locked)}::int8[]) as key`.execute(trx);
}

/**
 * Takes an exclusive lock that is identified by a text. Returns false immediately if another transaction holds it. The key
 * consists of the first 64 bits of the text's SHA-256.
 */
export async function tryLock(trx: DatabaseTransaction, text: string): Promise<boolean> {
  const hash = createHash('sha256').update(text).digest();
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${hash.readInt32BE(0)}::int4, ${hash.readInt32BE(4)}::int4) as locked`.execute(
    trx,
  );
  return rows[0]?.locked === true;
}

/** The SQLSTATE of a deadlock. */
const DEADLOCK_DETECTED = '40P01';

/** The maximum number of attempts of a transaction that deadlocks. */
const MAX_ATTEMPTS = 3;

/** Runs a transaction whose row locks can deadlock. Repeats it if PostgreSQL aborts it to resolve a deadlock. */
export async function retryDeadlocks<Result>(transact: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact();
    } catch (error) {
      const isDeadlock =
        error instanceof StoreUnavailableError &&
        error.cause instanceof pg.DatabaseError &&
        error.cause.code === DEADLOCK_DETECTED;
      if (!isDeadlock || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
