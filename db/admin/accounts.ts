import { type RawBuilder, sql } from 'kysely';
import { usernameKey } from '../accounts.js';
import { logAction, type OperatorAction } from '../operator-log.js';
import { NOW } from '../postgres/clock.js';
import type { Database } from '../postgres/index.js';
import { retryDeadlocks } from '../postgres/locks.js';
import type { RowReference } from './posts.js';

/* What only the operator may read or change. `handlers/admin` calls these functions. */

/** An account as the operator sees it. Times are in RFC 3339. */
export interface AccountDetails {
  id: number;
  username: string;
  email: string;
  name: string;
  private: boolean;
  /** The name of the stored image. */
  picture: string | null;
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
      'picture',
      'accounts.created_at',
      'disabled_at',
      'posts',
      'stored_bytes',
      'sessions',
      'last_used_at',
    ]);

/** Returns an account, or undefined if it does not exist. */
export async function findAccountDetails(
  db: Database,
  by: RowReference | { username: string } | { email: string },
): Promise<AccountDetails | undefined> {
  const query = selectDetails(db);
  if ('id' in by) return query.where('accounts.id', '=', by.id).executeTakeFirst();
  if ('email' in by) return query.where('email', '=', by.email).executeTakeFirst();
  if ('image' in by) return query.where('picture', '=', by.image).executeTakeFirst();
  return query.where('username_key', '=', usernameKey(by.username)).executeTakeFirst();
}

/** What the orders of a list sort by, before the id. All but the first are descending. */
export const ACCOUNT_ORDERS = {
  id: sql`accounts.id`,
  newest: sql`accounts.id`,
  'stored-bytes': sql`stored_bytes`,
  posts: sql`(select count(*) from posts where author_id = accounts.id)`,
} satisfies Record<string, RawBuilder<unknown>>;

interface AccountsPage {
  /** A part of the username, email address or name, ignoring case; of the username, also ignoring its Unicode form. */
  search?: string | undefined;
  /** Lists only disabled accounts. */
  disabled?: boolean | undefined;
  order?: keyof typeof ACCOUNT_ORDERS | undefined;
  /** The id of the last account of the previous page. It must exist, unless the order is by id. */
  after?: number | undefined;
  limit: number;
}

/** Returns a page of accounts. */
export async function listAccounts(
  db: Database,
  { search, disabled, order = 'id', after, limit }: AccountsPage,
): Promise<AccountDetails[]> {
  const key = ACCOUNT_ORDERS[order];
  const direction = order === 'id' ? 'asc' : 'desc';
  let page = db.selectFrom('accounts').select('id').orderBy(key, direction).orderBy('id', direction).limit(limit);
  if (after !== undefined) {
    const last = sql`select ${key}, id from accounts where id = ${after}`;
    if (order === 'id' || order === 'newest') page = page.where('id', order === 'id' ? '>' : '<', after);
    else page = page.where(sql<boolean>`(${key}, accounts.id) < (${last})`);
  }
  if (disabled) page = page.where('disabled_at', 'is not', null);
  if (search !== undefined) {
    // The folded text is empty if all of its characters are invisible.
    const username = containing(usernameKey(search) || search);
    page = page.where(({ eb, or }) =>
      or([
        eb('username_key', 'like', username),
        eb('email', 'ilike', containing(search)),
        eb('name', 'ilike', containing(search)),
      ]),
    );
  }
  // The details are read only of the accounts of the page.
  const details = selectDetails(db).where('accounts.id', 'in', page);
  return details.orderBy(key, direction).orderBy('accounts.id', direction).execute();
}

/** Returns a pattern for texts that contain this one. */
const containing = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Ends the sessions of an account, or of all accounts. Returns the number of deleted sessions. */
export const endSessions = (db: Database, accountId: number | undefined, action: OperatorAction): Promise<number> =>
  retryDeadlocks(() =>
    db.transaction().execute(async (trx) => {
      let deletion = trx.deleteFrom('sessions');
      if (accountId !== undefined) deletion = deletion.where('account_id', '=', accountId);
      const { numDeletedRows } = await deletion.executeTakeFirst();
      await logAction(trx, action, accountId);
      return Number(numDeletedRows);
    }),
  );
