import { type Expression, sql } from 'kysely';
import { usernameKey } from '../accounts.js';
import { NOW } from '../postgres/clock.js';
import type { Database } from '../postgres/index.js';
import { retryDeadlocks } from '../postgres/locks.js';

/* What only the operator may read or change. `handlers/admin` calls these functions. */

/** How the operator names an account. */
export type AccountReference = { id: number } | { username: string } | { email: string };

/** An account as the operator sees it. Times are in RFC 3339. */
export interface AccountDetails {
  id: number;
  username: string;
  email: string;
  name: string;
  private: boolean;
  created_at: string;
  disabled_at: string | null;
  posts: number;
  /** The total size of its images. */
  stored_bytes: number;
  /** The number of unexpired sessions. */
  sessions: number;
  /** When one of these sessions was last used. */
  last_used_at: string | null;
}

const selectDetails = (db: Database) =>
  db
    .selectFrom('accounts')
    .innerJoinLateral(
      ({ selectFrom }) =>
        selectFrom('sessions')
          .whereRef('account_id', '=', 'accounts.id')
          .where('expires_at', '>', NOW)
          .select(({ fn }) => [
            fn.countAll<number>().as('sessions'),
            fn.max<string | null>('last_used_at').as('last_used_at'),
          ])
          .as('live'),
      (join) => join.onTrue(),
    )
    .innerJoinLateral(
      ({ selectFrom }) =>
        selectFrom('posts')
          .whereRef('author_id', '=', 'accounts.id')
          .select(({ fn }) => fn.countAll<number>().as('posts'))
          .as('written'),
      (join) => join.onTrue(),
    )
    .select([
      'accounts.id',
      'username',
      'email',
      'name',
      'private',
      'accounts.created_at',
      'disabled_at',
      'posts',
      'stored_bytes',
      'sessions',
      'last_used_at',
    ]);

/** Returns an account, or undefined if it does not exist. */
export async function findAccountDetails(db: Database, by: AccountReference): Promise<AccountDetails | undefined> {
  const query = selectDetails(db);
  if ('id' in by) return query.where('id', '=', by.id).executeTakeFirst();
  if ('email' in by) return query.where('email', '=', by.email).executeTakeFirst();
  return query.where('username_key', '=', usernameKey(by.username)).executeTakeFirst();
}

interface AccountsPage {
  /** A part of the username, email address or name, ignoring case. */
  search?: string | undefined;
  /** The last id of the previous page. */
  after?: number | undefined;
  limit: number;
}

const SEARCHED_COLUMNS = ['username', 'email', 'name'] as const;

/** Returns a page of accounts by ascending id. */
export async function listAccounts(
  db: Database,
  { search, after = 0, limit }: AccountsPage,
): Promise<AccountDetails[]> {
  let query = selectDetails(db).where('id', '>', after);
  if (search !== undefined) {
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    query = query.where(({ eb, or }) => or(SEARCHED_COLUMNS.map((column) => eb(column, 'ilike', pattern))));
  }
  return query.orderBy('id').limit(limit).execute();
}

/** Sets a new password and ends all sessions of the account. Returns false if the account does not exist. */
export const resetPassword = (db: Database, id: number, passwordHash: string): Promise<boolean> =>
  changeAndEndSessions(db, id, { password_hash: passwordHash });

/**
 * Disables an account, which ends all its sessions, or enables it again. An account that is disabled already keeps the time.
 * Returns false if the account does not exist.
 */
export const setDisabled = (db: Database, id: number, disabled: boolean): Promise<boolean> =>
  changeAndEndSessions(db, id, { disabled_at: disabled ? sql<string>`coalesce(disabled_at, ${NOW})` : null });

/** The new token version makes a login fail whose password was checked before this change: see `createSession`. */
function changeAndEndSessions(
  db: Database,
  id: number,
  change: { password_hash: string } | { disabled_at: Expression<string> | null },
): Promise<boolean> {
  // Can deadlock with `trimSessions`, which locks the sessions in another order.
  return retryDeadlocks(() =>
    db.transaction().execute(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('accounts')
        .set((eb) => ({ ...change, token_version: eb('token_version', '+', 1) }))
        .where('id', '=', id)
        .executeTakeFirst();
      await trx.deleteFrom('sessions').where('account_id', '=', id).execute();
      return numUpdatedRows > 0n;
    }),
  );
}

/** Ends the sessions of an account, or of all accounts. Returns the number of deleted sessions. */
export async function endSessions(db: Database, accountId?: number): Promise<number> {
  let deletion = db.deleteFrom('sessions');
  if (accountId !== undefined) deletion = deletion.where('account_id', '=', accountId);
  const { numDeletedRows } = await retryDeadlocks(() => deletion.executeTakeFirst());
  return Number(numDeletedRows);
}

/** Counts an action of the operator. */
export async function countAction(db: Database): Promise<void> {
  await db
    .updateTable('installation')
    .set((eb) => ({ operator_actions: eb('operator_actions', '+', 1) }))
    .execute();
}

/** A post as the operator sees it. */
export interface PostDetails {
  id: number;
  author_id: number;
  author_username: string | null;
  title: string;
  text: string;
  /** The name of the stored image. */
  image: string | null;
  image_bytes: number;
  created_at: string;
}

/** Returns a post, or undefined if it does not exist. */
export const findPostDetails = (db: Database, id: number): Promise<PostDetails | undefined> =>
  db
    .selectFrom('posts')
    .leftJoin('accounts', 'accounts.id', 'posts.author_id')
    .select([
      'posts.id',
      'posts.author_id',
      'accounts.username as author_username',
      'posts.title',
      'posts.text',
      'posts.image',
      'posts.image_bytes',
      'posts.created_at',
    ])
    .where('posts.id', '=', id)
    .executeTakeFirst();
