import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { ACCOUNT_COLUMNS, type Account, type Credentials } from './accounts.js';
import { NOW, STATEMENT_TIME } from './postgres/clock.js';
import type { Database } from './postgres/index.js';
import { retryDeadlocks, sharedLocks } from './postgres/locks.js';
import type { SessionRow } from './schema.js';

/** An unexpired session with its account. */
export interface LiveSession {
  id: string;
  /** The token version of the account. The token must have the same version. */
  tokenVersion: number;
  /** Whether `last_used_at` is more than a minute old. */
  needsTouch: boolean;
  account: Account;
}

/** Creates a session. Returns its id, or undefined if the password has changed since it was checked, or if the account was deleted. */
export async function createSession(
  db: Database,
  checked: Credentials,
  { deviceName, expiresAt }: { deviceName: string; expiresAt: Date },
): Promise<string | undefined> {
  const session = await db
    .with('lock', () => sql<object>`(${sharedLocks({ accounts: [checked.id] })})`)
    .with('account', (creator) =>
      creator
        .selectFrom(['lock', 'accounts'])
        .select('id')
        .where('id', '=', checked.id)
        .where('token_version', '=', checked.tokenVersion)
        // A change of the password waits for this lock, and then deletes the session too.
        .forShare('accounts'),
    )
    .insertInto('sessions')
    .columns(['id', 'account_id', 'device_name', 'expires_at'])
    .expression(({ selectFrom }) =>
      selectFrom('account').select(({ val }) => [
        val(randomUUID()).as('id'),
        'account.id as account_id',
        val(deviceName).as('device_name'),
        val(expiresAt).as('expires_at'),
      ]),
    )
    .returning('id')
    .executeTakeFirst();
  return session?.id;
}

/**
 * Deletes the least recently used sessions of an account, so that at most `max` remain. Returns the number of deleted sessions.
 * Each login calls this after its session is committed. So the last of several concurrent logins sees all sessions, and enforces
 * the maximum.
 */
export async function trimSessions(db: Database, accountId: number, newId: string, max: number): Promise<number> {
  // All sessions are locked before they are counted, so that two concurrent logins do not delete more than the excess. Every
  // login locks them by ascending id, so that two logins cannot deadlock. Retried, because other deletions lock them in another
  // order.
  const deletion = db
    .with(
      (cte) => cte('locked').materialized(),
      (qb) =>
        qb
          .selectFrom('sessions')
          .select(['id', 'last_used_at'])
          .where('account_id', '=', accountId)
          .where('expires_at', '>', NOW)
          .orderBy('id')
          .forUpdate(),
    )
    .deleteFrom('sessions')
    .where('id', 'in', (qb) =>
      qb
        .selectFrom('locked')
        .select('id')
        // The new session stays, even if another one was used since.
        .orderBy((eb) => eb('id', '=', newId), 'desc')
        .orderBy('last_used_at', 'desc')
        .orderBy('id')
        .offset(max),
    );
  const { numDeletedRows } = await retryDeadlocks(() => deletion.executeTakeFirst());
  return Number(numDeletedRows);
}

/** Returns one unexpired session or undefined for each id, in the order of the ids. */
export async function findSessions(db: Database, ids: readonly string[]): Promise<(LiveSession | undefined)[]> {
  const rows = await db
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
    .select([
      'sessions.id as sessionId',
      'token_version as tokenVersion',
      sql<boolean>`last_used_at < ${NOW} - interval '1 minute'`.as('needsTouch'),
      ...ACCOUNT_COLUMNS.map((column) => `accounts.${column}` as const),
    ])
    .where((eb) => eb('sessions.id', '=', eb.fn.any(eb.val(ids))))
    .where('expires_at', '>', NOW)
    .execute();
  const byId = new Map(
    rows.map(({ sessionId, tokenVersion, needsTouch, ...account }) => [
      sessionId,
      { id: sessionId, tokenVersion, needsTouch, account },
    ]),
  );
  return ids.map((id) => byId.get(id));
}

/**
 * Sets `last_used_at` of these sessions to the current time. Skips sessions that another transaction has locked: a later
 * request touches them. The statement therefore never waits, and cannot deadlock with logins that lock the same sessions.
 */
export async function touchSessions(db: Database, ids: readonly string[]): Promise<void> {
  await db
    .with(
      (cte) => cte('unlocked').materialized(),
      (qb) =>
        qb
          .selectFrom('sessions')
          .select('id')
          .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
          .forUpdate()
          .skipLocked(),
    )
    .updateTable('sessions')
    .set({ last_used_at: NOW })
    .where('id', 'in', (qb) => qb.selectFrom('unlocked').select('id'))
    .execute();
}

/**
 * Returns the unexpired sessions, the most recently used one first. The current session counts as used now, because its row is
 * updated at most once a minute.
 */
export async function listSessions(db: Database, accountId: number, currentId: string): Promise<SessionRow[]> {
  const lastUsed = sql<string>`case when id = ${currentId} then ${NOW}::timestamptz(3) else last_used_at end`;
  return db
    .selectFrom('sessions')
    .select(['id', 'account_id', 'device_name', 'created_at', 'expires_at', lastUsed.as('last_used_at')])
    .where('account_id', '=', accountId)
    .where('expires_at', '>', NOW)
    .orderBy(lastUsed, 'desc')
    .orderBy('id')
    .execute();
}

/** Deletes a session. Returns false if the account has no such session. */
export async function deleteSession(db: Database, accountId: number, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteOtherSessions(db: Database, accountId: number, currentId: string): Promise<void> {
  const others = db.deleteFrom('sessions').where('account_id', '=', accountId).where('id', '!=', currentId);
  // Can deadlock with `trimSessions`, which locks the sessions in another order.
  await retryDeadlocks(() => others.execute());
}

export async function purgeExpiredSessions(db: Database): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<=', STATEMENT_TIME).execute();
}
