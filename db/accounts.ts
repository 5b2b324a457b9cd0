import { sql } from 'kysely';
import pg from 'pg';
import type { SocialGraph } from './graph/index.js';
import type { ImageFile } from './images/index.js';
import { logAction, logged, type OperatorAction } from './operator-log.js';
import {
  enqueue,
  entriesOf,
  imageReferences,
  insertEntries,
  type OutboxEntry,
  type WithEntries,
} from './outbox/entries.js';
import type { Outbox } from './outbox/index.js';
import {
  claimImage,
  completeWrite,
  type ImageWriteStores,
  type PendingImage,
  storeImage,
} from './outbox/pending-images.js';
import { NOW } from './postgres/clock.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockExclusive, retryDeadlocks, sharedLocks } from './postgres/locks.js';
import type { AccountRow } from './schema.js';
import { changeStoredBytes } from './storage-quota.js';
import { nfkcCasefold } from './support/casefold.js';
import { AUDIENCE, IS_ENABLED, type Owner } from './visibility.js';

export const ACCOUNT_COLUMNS = ['id', 'name', 'username', 'email', 'private', 'picture'] as const;

/** An account without its credentials and internal columns. */
export type Account = Pick<AccountRow, (typeof ACCOUNT_COLUMNS)[number]>;

/** Returns the key by which usernames are unique. */
export const usernameKey = nfkcCasefold;

interface Registration {
  name: string;
  username: string;
  email: string;
  passwordHash: string;
}

/** The outcome of a write whose username or email address another account already has. */
export interface FieldTaken {
  outcome: 'taken';
  field: 'username' | 'email';
}

/** The unique fields of accounts, by the name of the database constraint. */
const UNIQUE_FIELDS: Record<string, FieldTaken['field']> = {
  accounts_username_key: 'username',
  accounts_email: 'email',
};

/** Converts the violation of a unique constraint to an outcome. Rethrows any other error. */
function fieldTakenOrThrow(error: unknown): FieldTaken {
  const field = error instanceof pg.DatabaseError && UNIQUE_FIELDS[error.constraint ?? ''];
  if (!field) throw error;
  return { outcome: 'taken', field };
}

/** Creates an account, unless its username or email is taken. Logs the action of the operator, if any. */
export async function createAccount(
  { db, graph, outbox }: { db: Database; graph: Pick<SocialGraph, 'hasNodes'>; outbox: Outbox },
  { name, username, email, passwordHash }: Registration,
  action?: OperatorAction,
): Promise<{ outcome: 'created'; id: number } | FieldTaken> {
  try {
    const { id, entry_id } = await db
      .with('account', (creator) =>
        creator
          .insertInto('accounts')
          .values({ name, username, username_key: usernameKey(username), email, password_hash: passwordHash })
          .returning('id'),
      )
      .with('entry', () => entriesOf(sql`select 'person', id::text from account where ${sql.lit(graph.hasNodes)}`))
      .with('logged', () => logged(action, sql`select id, null::int8 from account`))
      .selectFrom('account')
      .leftJoin('entry', (join) => join.onTrue())
      .select(['account.id', 'entry.id as entry_id'])
      .executeTakeFirstOrThrow();
    if (entry_id !== null) await outbox.deliver([{ id: entry_id, kind: 'person', key: String(id) }]);
    return { outcome: 'created', id };
  } catch (error) {
    return fieldTakenOrThrow(error);
  }
}

/** Returns one account for each id, in the order of the ids; undefined if it does not exist for users. */
export async function findAccounts(db: Database, ids: readonly number[]): Promise<(Account | undefined)[]> {
  const rows = await db
    .selectFrom('accounts')
    .select(ACCOUNT_COLUMNS)
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .where(IS_ENABLED)
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** Returns the owner of a profile picture, without the rest of the profile, which the viewer may not be allowed to see. */
export async function findPictureOwner(db: Database, picture: string): Promise<Owner | undefined> {
  return db
    .selectFrom('accounts')
    .select(['id', AUDIENCE.as('audience')])
    .where('picture', '=', picture)
    .executeTakeFirst();
}

/**
 * The data that a password is checked against. A write that depends on the check compares `tokenVersion` rather than the hash,
 * because a rehash replaces the hash although the password stays the same. Only `replacePasswordHash` compares the hash.
 */
export interface Credentials {
  id: number;
  passwordHash: string;
  tokenVersion: number;
}

/**
 * Returns the credentials of an account, or undefined if it does not exist. Those of a disabled account have an empty hash, which
 * no password matches: its failed passwords remain those of the account.
 */
export async function findCredentials(
  db: Database,
  by: { id: number } | { email: string },
): Promise<Credentials | undefined> {
  const query = db
    .selectFrom('accounts')
    .select(['id', 'token_version as tokenVersion'])
    .select(({ eb, ref }) =>
      eb.case().when('disabled_at', 'is', null).then(ref('password_hash')).else('').end().as('passwordHash'),
    );
  return ('id' in by ? query.where('id', '=', by.id) : query.where('email', '=', by.email)).executeTakeFirst();
}

/** Replaces a hash with one of the same password with newer parameters, unless the stored hash has changed meanwhile. */
export async function replacePasswordHash(db: Database, checked: Credentials, passwordHash: string): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ password_hash: passwordHash })
    .where('id', '=', checked.id)
    .where('password_hash', '=', checked.passwordHash)
    .execute();
}

interface AccountChange {
  name?: string | undefined;
  username?: string | undefined;
  email?: string | undefined;
  private?: boolean | undefined;
  /** A new picture, or null to remove the current one. */
  picture?: ImageFile | null | undefined;
  /** The storage quota of the account. */
  storageMaxBytes: number;
  /** The new password's hash, and the credentials that the old password was checked against, unless the operator sets it. */
  password?: { hash: string; checkedCredentials?: Credentials } | undefined;
  /** Disables or enables the account. An account that is disabled already keeps the time. */
  disabled?: boolean;
  /** Whether all sessions end, as with a new password. */
  endSessions?: boolean;
  /** The action of the operator, to log. */
  action?: OperatorAction;
}

type AccountUpdate =
  | { outcome: 'updated'; account: Account; before: Pick<Account, 'username' | 'email'> }
  | FieldTaken
  /** `stale`: the password has been changed since it was checked. */
  | { outcome: 'stale' | 'quotaExceeded' | 'accountDeleted' };

/**
 * Updates an account. Setting a new password also deletes all sessions of the account. The new token version makes a login fail
 * whose password was checked before: see `createSession`.
 *
 * @throws StoreUnavailableError also if the picture can no longer be claimed: see `claimImage`
 */
export async function updateAccount(
  stores: ImageWriteStores,
  id: number,
  change: AccountChange,
): Promise<AccountUpdate> {
  const picture = change.picture && (await storeImage(stores, change.picture));
  // Two accounts that swap usernames can deadlock. A password change can deadlock with `trimSessions`.
  const transaction: Promise<WithEntries<AccountUpdate>> = retryDeadlocks(() =>
    stores.db.transaction().execute((trx) => updateInTransaction(trx, id, { ...change, picture })),
  ).catch(fieldTakenOrThrow);
  return completeWrite(stores, picture, transaction);
}

async function updateInTransaction(
  trx: DatabaseTransaction,
  id: number,
  change: Omit<AccountChange, 'picture'> & { picture?: PendingImage | null | undefined },
): Promise<WithEntries<AccountUpdate>> {
  const old = await trx
    .with('lock', () => sql<object>`(${sharedLocks({ accounts: [id] })})`)
    .selectFrom(['lock', 'accounts'])
    .select(['username', 'email', 'picture', 'picture_bytes', 'token_version'])
    .where('id', '=', id)
    .forUpdate('accounts')
    .executeTakeFirst();
  if (!old) return { outcome: 'accountDeleted' };
  const { name, username, email, password, picture, storageMaxBytes, disabled, action } = change;
  const checked = password?.checkedCredentials;
  if (checked && checked.tokenVersion !== old.token_version) return { outcome: 'stale' };
  const endsSessions = password !== undefined || change.endSessions;
  if (picture !== undefined) {
    const growth = { account: id, bytes: (picture?.bytes ?? 0) - old.picture_bytes, maxBytes: storageMaxBytes };
    if (!(await changeStoredBytes(trx, growth))) return { outcome: 'quotaExceeded' };
  }
  if (picture) await claimImage(trx, picture);

  const account = await trx
    .updateTable('accounts')
    // Kysely omits undefined columns. `id` is set to its own value, because a SET clause must not be empty.
    .set({
      name,
      email,
      private: change.private,
      ...(username !== undefined && { username, username_key: usernameKey(username) }),
      ...(picture !== undefined && { picture: picture?.name ?? null, picture_bytes: picture?.bytes ?? 0 }),
      ...(disabled !== undefined && { disabled_at: disabled ? sql<string>`coalesce(disabled_at, ${NOW})` : null }),
      password_hash: password?.hash,
      ...(endsSessions && { token_version: old.token_version + 1 }),
      id,
    })
    .where('id', '=', id)
    .returning(ACCOUNT_COLUMNS)
    .executeTakeFirstOrThrow();
  if (endsSessions) await trx.deleteFrom('sessions').where('account_id', '=', id).execute();
  if (action) await logAction(trx, action, id);
  const entries = picture === undefined ? [] : await enqueue(trx, imageReferences(old.picture));
  return { outcome: 'updated', account, before: old, entries };
}

type DeletedAccount = Pick<Credentials, 'id'> &
  Partial<Pick<Credentials, 'tokenVersion'>> & { action?: OperatorAction };

/** `stale`: the password has been changed since it was checked. */
type AccountDeletion = { outcome: 'deleted' | 'stale' | 'accountDeleted' };

/**
 * Deletes an account with its sessions, posts, images and graph nodes.
 *
 * @param checked with a `tokenVersion`, the account is deleted only if its password has not been changed since the check; with an
 *   action of the operator, the deletion is logged
 */
export async function deleteAccount(
  { db, outbox }: { db: Database; outbox: Outbox },
  checked: DeletedAccount,
): Promise<AccountDeletion> {
  // Can deadlock with `trimSessions`, which locks the sessions in another order.
  const deletion = await retryDeadlocks(() => db.transaction().execute((trx) => deleteInTransaction(trx, checked)));
  await outbox.deliver(deletion.entries ?? []);
  return deletion;
}

/** The maximum number of posts to delete in one statement, so that it does not time out. */
const MAX_POSTS_PER_STATEMENT = 5000;

async function deleteInTransaction(
  trx: DatabaseTransaction,
  { id, tokenVersion, action }: DeletedAccount,
): Promise<WithEntries<AccountDeletion>> {
  // Waits for writes in progress that refer to the account, and blocks new ones.
  await lockExclusive(trx, { accounts: [id] });
  let deletion = trx.deleteFrom('accounts').where('id', '=', id);
  if (tokenVersion !== undefined) deletion = deletion.where('token_version', '=', tokenVersion);
  const account = await deletion.returning('picture').executeTakeFirst();
  if (!account) return { outcome: (await findCredentials(trx, { id })) ? 'stale' : 'accountDeleted' };
  if (action) await logAction(trx, action, id);
  const person = { kind: 'person', key: id } as const;
  const entries = await enqueue(trx, [person, ...imageReferences(account.picture)]);
  const postsOfAccount = trx.selectFrom('posts').select('id').where('author_id', '=', id);
  const ids = (await postsOfAccount.execute()).map(({ id }) => id);
  for (let start = 0; start < ids.length; start += MAX_POSTS_PER_STATEMENT) {
    const { rows } = await deletePosts(ids.slice(start, start + MAX_POSTS_PER_STATEMENT)).execute(trx);
    entries.push(...rows);
  }
  return { outcome: 'deleted', entries };
}

/** Builds a statement that deletes posts and inserts their outbox entries. The statement returns the entries. */
const deletePosts = (ids: readonly number[]) => sql<OutboxEntry>`
  with deleted as (delete from posts where id = any(${ids}::int8[]) returning id, image)
  ${insertEntries(sql`
    select 'image', image from deleted where image is not null
    union all
    select 'post', id::text from deleted`)}`;
