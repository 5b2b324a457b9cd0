import { type RawBuilder, sql } from 'kysely';
import type { Database } from './postgres/index.js';
import type { OperatorLogRow } from './schema.js';

/*
 * The log of what operators did with `npm run admin`. A row is written in the transaction that makes the change, and remains when
 * its account and post are deleted.
 */

/** An action of the operator. */
export interface OperatorAction {
  operator: string;
  /** The command, such as `accounts disable`. */
  command: string;
  reason?: string | undefined;
}

/**
 * Builds a part of a statement that logs an action on each account and post that `query` selects, in this order. Without an
 * action, it does nothing.
 */
export const logged = (action: OperatorAction | undefined, query: RawBuilder<unknown>) =>
  action
    ? sql<object>`(
        insert into operator_log (operator, command, reason, account_id, post_id)
        select ${action.operator}, ${action.command}, ${action.reason ?? null}, target.* from (${query}) as target)`
    : sql<object>`(select)`;

/** Logs an action on an account, or on all accounts. */
export async function logAction(db: Database, action: OperatorAction, account_id?: number): Promise<void> {
  await db
    .insertInto('operator_log')
    .values({ ...action, account_id })
    .execute();
}

/**
 * Returns a page of the log, the newest action first. `account` selects the actions on an account, which may be deleted. `before`
 * is the last id of the previous page.
 */
export async function readLog(
  db: Database,
  { account, before, limit }: { account?: number; before?: number | undefined; limit: number },
): Promise<OperatorLogRow[]> {
  let query = db.selectFrom('operator_log').selectAll().orderBy('id', 'desc').limit(limit);
  if (account !== undefined) query = query.where('account_id', '=', account);
  if (before !== undefined) query = query.where('id', '<', before);
  return query.execute();
}
