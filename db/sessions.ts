import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { ACCOUNT_COLUMNS, type Account, type Credentials } from './accounts.js';
import { NOW } from './postgres/clock.js';
import type { Database, Postgres } from './postgres/index.js';
import { sharedLocksWithin } from './postgres/locks.js';
import type { SessionRow } from './schema.js';

/** A session as every request looks it up: with its account, and what its token has to say. */
export interface LiveSession {
  id: string;
  tokenVersion: number;
  /** Whether `last_used_at` has fallen so far behind that it is worth a write. */
  lagging: boolean;
  account: Account;
}

export interface NewSession {
  id: string;
  /** How many live sessions the account has now, without those that concurrent logins create. */
  live: number;
}

/**
 * Starts a session, unless the password that was checked is no longer the account's: then undefined. It is one statement,
 * whose look at the account is as old as its beginning; `for share` looks again once it has the locks.
 */
export async function createSession(
  { db, statementTimeoutMs }: Pick<Postgres, 'db' | 'statementTimeoutMs'>,
  checked: Credentials,
  { deviceName, expiresAt }: { deviceName: string; expiresAt: Date },
): Promise<NewSession | undefined> {
  const { rows } = await sql<{ id: string; others: number }>`
    with locked as materialized (${sharedLocksWithin(statementTimeoutMs, { accounts: [checked.id] })})
    insert into sessions (id, account_id, device_name, expires_at)
    select ${randomUUID()}::text, accounts.id, ${deviceName}::text, ${expiresAt}::timestamptz
    from locked, accounts
    where accounts.id = ${checked.id} and token_version = ${checked.tokenVersion}
    for share of accounts
    returning id, (
      select count(*)::int from sessions where account_id = ${checked.id} and expires_at > ${NOW}
    ) as others`.execute(db);
  return rows[0] && { id: rows[0].id, live: rows[0].others + 1 };
}

/** More logins of one account than can be between their two statements at the same time. */
const CONCURRENT_LOGINS = 50;

/**
 * Ends the least recently used sessions of an account beyond `max`, and returns how many. It needs no statement while the
 * account is far from its maximum. Concurrent logins each do this after they have committed, so the last of them sees all
 * sessions and leaves `max`.
 */
export async function trimSessions(
  db: Database,
  accountId: number,
  { live }: NewSession,
  max: number,
): Promise<number> {
  if (live + CONCURRENT_LOGINS <= max) return 0;
  // Locked in one order, so that two of these do not wait for each other.
  const { numAffectedRows } = await sql`
    delete from sessions where id in (
      select id from sessions
      where account_id = ${accountId} and expires_at > ${NOW}
      order by last_used_at desc, id
      offset ${max}
      for update
    )`.execute(db);
  return Number(numAffectedRows);
}

/** One live session or undefined for each id, in the order of the ids. */
export async function findSessions(db: Database, ids: readonly string[]): Promise<(LiveSession | undefined)[]> {
  const rows = await db
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
    .select([
      'sessions.id as sessionId',
      'token_version as tokenVersion',
      sql<boolean>`last_used_at < ${NOW} - interval '1 minute'`.as('lagging'),
      ...ACCOUNT_COLUMNS.map((column) => `accounts.${column}` as const),
    ])
    .where(sql<boolean>`sessions.id = any(${ids}::text[]) and expires_at > ${NOW}`)
    .execute();
  const byId = new Map(
    rows.map(({ sessionId, tokenVersion, lagging, ...account }) => [
      sessionId,
      { id: sessionId, tokenVersion, lagging, account },
    ]),
  );
  return ids.map((id) => byId.get(id));
}

export async function touchSessions(db: Database, ids: readonly string[]): Promise<void> {
  await db.updateTable('sessions').set({ last_used_at: NOW }).where(sql<boolean>`id = any(${ids}::text[])`).execute();
}

/** Last used first. The session that asks is in use now, however far its row lags. */
export async function listSessions(db: Database, accountId: number, current: string): Promise<SessionRow[]> {
  const lastUsed = sql<string>`case when id = ${current} then ${NOW}::timestamptz(3) else last_used_at end`;
  return db
    .selectFrom('sessions')
    .select(['id', 'account_id', 'device_name', 'created_at', 'expires_at', lastUsed.as('last_used_at')])
    .where('account_id', '=', accountId)
    .where('expires_at', '>', NOW)
    .orderBy(lastUsed, 'desc')
    .orderBy('id')
    .execute();
}

/** False when the account has no such session. */
export async function deleteSession(db: Database, accountId: number, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteOtherSessions(db: Database, accountId: number, current: string): Promise<void> {
  await db.deleteFrom('sessions').where('account_id', '=', accountId).where('id', '!=', current).execute();
}

export async function purgeExpiredSessions(db: Database): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<=', NOW).execute();
}
