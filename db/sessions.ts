import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { ACCOUNT_COLUMNS, type Account, type Secret } from './accounts.js';
import { NOW } from './clock.js';
import { sharedLocksWithin } from './locks.js';
import type { Database, Postgres } from './postgres/index.js';
import type { SessionRow } from './tables.js';

/** A session as every request looks it up: with its account, and what its token has to say. */
export interface LiveSession {
  id: string;
  tokenVersion: number;
  /** Whether `last_used_at` has fallen so far behind that it is worth a write. */
  lagging: boolean;
  account: Account;
}

/**
 * Starts a session, unless the password that was checked is no longer the account's: then undefined. It is one statement,
 * whose look at the account is as old as its beginning; `for share` looks again once it has the locks.
 */
export async function createSession(
  { db, deadline }: Pick<Postgres, 'db' | 'deadline'>,
  checked: Secret,
  { deviceName, expiresAt }: { deviceName: string; expiresAt: Date },
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with locked as materialized (${sharedLocksWithin(deadline, { accounts: [checked.id] })})
    insert into sessions (id, account_id, device_name, expires_at)
    select ${randomUUID()}::text, accounts.id, ${deviceName}::text, ${expiresAt}::timestamptz
    from locked, accounts
    where accounts.id = ${checked.id} and token_version = ${checked.tokenVersion}
    for share of accounts
    returning id`.execute(db);
  return rows[0]?.id;
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
