import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from './index.js';

/**
 * PostgreSQL advisory locks on accounts and posts, held until the transaction ends. They serialize changes that involve several
 * stores. Writes that refer to an account or post and need it to stay (likes, friend transitions, new posts, sessions, uploads)
 * take shared locks; deletions and the delivery of outbox entries take exclusive locks.
 *
 * Lock order: accounts by ascending id, then posts by ascending id, so that transactions cannot deadlock. In the embedded graph,
 * a trigger takes the lock -2 last when likes are written (migration 0004). Advisory locks are granted in the order of the
 * requests; with row locks, a stream of likes could starve a deletion.
 *
 * Lock keys: 2 * id for an account, 2 * id + 1 for a post, negative numbers for locks on a whole table or installation. The locks
 * of `tryLock` have two 32-bit keys, which cannot collide with 64-bit keys.
 *
 * While a transaction is open, only its own connection may be used: the embedded PostgreSQL has a single connection, and a
 * statement outside the transaction would deadlock with it.
 */

/** The accounts and posts that a transaction locks. */
export interface LockedIds {
  accounts?: readonly number[];
  posts?: readonly number[];
}

const keysOf = ({ accounts = [], posts = [] }: LockedIds): string[] => {
  const sorted = (ids: readonly number[]) => [...new Set(ids)].sort((a, b) => a - b);
  return [...sorted(accounts).map((id) => BigInt(id) * 2n), ...sorted(posts).map((id) => BigInt(id) * 2n + 1n)].map(
    String,
  );
};

/** Takes shared locks. Waits while other transactions hold exclusive ones. */
export async function lockShared(trx: DatabaseTransaction, locked: LockedIds): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(key) from unnest(${keysOf(locked)}::int8[]) as key`.execute(trx);
}

/**
 * Returns a subquery that takes shared locks, for a statement without a transaction around it. Sets `lock_timeout`; 0 disables
 * it. When the client has given the statement up, it must not occupy a connection and run later.
 */
export const sharedLocksWithin = (timeoutMs: number, locked: LockedIds) => sql`
  select pg_advisory_xact_lock_shared(key)
  from (select set_config('lock_timeout', ${String(timeoutMs)}, true)) as lock_timeout, unnest(${keysOf(locked)}::int8[]) as key`;

/** Takes exclusive locks. Waits while other transactions hold shared or exclusive ones. */
export async function lockExclusive(trx: DatabaseTransaction, locked: LockedIds): Promise<void> {
  await sql`select pg_advisory_xact_lock(key) from unnest(${keysOf(locked)}::int8[]) as key`.execute(trx);
}

/** Returns a subquery that takes exclusive locks on the accounts and posts that `query` selects as `is_post` and `id`. */
export const exclusiveLocksOf = (query: RawBuilder<unknown>) => sql`
  select pg_advisory_xact_lock(2 * id + is_post::int)
  from (select * from (${query}) as locked order by is_post, id) as in_lock_order`;

/**
 * Takes the lock on a text and returns true, or returns false immediately if another transaction holds it. The key is 64 bits
 * of the text's SHA-256.
 */
export async function tryLock(trx: DatabaseTransaction, text: string): Promise<boolean> {
  const hash = createHash('sha256').update(text).digest();
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${hash.readInt32BE(0)}::int4, ${hash.readInt32BE(4)}::int4) as locked`.execute(
    trx,
  );
  return rows[0]?.locked === true;
}
