import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { DatabaseTransaction } from './index.js';

/** What a transaction touches in more than one store. */
export interface LockedIds {
  accounts?: readonly number[];
  posts?: readonly number[];
}

/**
 * Advisory locks, held until the transaction ends. They queue fairly, where row locks let a stream of likes keep a deletion
 * waiting. Everyone takes them in one order, accounts by id and then posts by id, so no two transactions can wait for each
 * other. Where the graph is tables, the one who writes likes takes a last one by a trigger.
 *
 * While a transaction is open, nothing but that transaction is used: the embedded PostgreSQL has a single connection, and
 * anything else would wait for it for ever.
 */
const keysOf = ({ accounts = [], posts = [] }: LockedIds): string[] => {
  const sorted = (ids: readonly number[]) => [...new Set(ids)].sort((a, b) => a - b);
  return [...sorted(accounts).map((id) => BigInt(id) * 2n), ...sorted(posts).map((id) => BigInt(id) * 2n + 1n)].map(
    String,
  );
};

/** For whoever writes about these and needs them to stay: likes, friend transitions, new posts, sessions and uploads. */
export async function lockShared(trx: DatabaseTransaction, locked: LockedIds): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(key) from unnest(${keysOf(locked)}::int8[]) as key`.execute(trx);
}

/**
 * The query that takes them, for a statement that is a transaction by itself. That statement waits for no lock longer than
 * `patience`, in milliseconds: by then its caller has given it up, and it would hold a connection and go ahead later.
 */
export const sharedLocksWithin = (patience: number, locked: LockedIds) => sql`
  select pg_advisory_xact_lock_shared(key)
  from (select set_config('lock_timeout', ${String(patience)}, true)) as patience, unnest(${keysOf(locked)}::int8[]) as key`;

/** For whoever removes these, and for the delivery of a change to another store. */
export async function lockExclusive(trx: DatabaseTransaction, locked: LockedIds): Promise<void> {
  await sql`select pg_advisory_xact_lock(key) from unnest(${keysOf(locked)}::int8[]) as key`.execute(trx);
}

/**
 * Takes a lock that any text may name, held until the transaction ends, or returns false when another transaction holds it.
 * It never waits. Locks of two numbers are apart from those of one, which are the ids above; two texts with the same 64 bits
 * of SHA-256 would share a lock.
 */
export async function tryLock(trx: DatabaseTransaction, text: string): Promise<boolean> {
  const hash = createHash('sha256').update(text).digest();
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${hash.readInt32BE(0)}::int4, ${hash.readInt32BE(4)}::int4) as locked`.execute(
    trx,
  );
  return rows[0]?.locked === true;
}
