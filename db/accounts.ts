import { sql } from 'kysely';
import { enqueue, imageReferences } from './outbox/index.js';
import { claimImage, type PendingImage } from './outbox/pending-images.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockExclusive, lockShared } from './postgres/locks.js';
import type { AccountRow } from './schema.js';
import { changeStoredBytes } from './storage-quota.js';
import { StoreUnavailableError } from './support/errors.js';
import type { Owner } from './visibility.js';

/** An account without what only the password checks need. */
export type Account = Pick<AccountRow, 'id' | 'name' | 'username' | 'email' | 'private' | 'picture'>;

export const ACCOUNT_COLUMNS = ['id', 'name', 'username', 'email', 'private', 'picture'] as const;

/**
 * Returns what no two usernames may share: equal for those that are equal under NFKC case folding. JavaScript has no case
 * folding. Lower case, then upper case, makes the same equal (ß, ẞ and ss; σ and ς), except that it takes ı for i.
 */
export function usernameKey(username: string): string {
  return username
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    .split('ı')
    .map((part) => part.toUpperCase())
    .join('ı')
    .normalize('NFKC');
}

export interface Registration {
  name: string;
  username: string;
  email: string;
  passwordHash: string;
}

/** Answers the new account's id, or undefined when its username or email is taken. */
export async function createAccount(
  db: Database,
  { name, username, email, passwordHash }: Registration,
): Promise<{ id: number; entries: number[] } | undefined> {
  return db.transaction().execute(async (trx) => {
    const account = await trx
      .insertInto('accounts')
      .values({ name, username, username_key: usernameKey(username), email, password_hash: passwordHash })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!account) return undefined;
    return { id: account.id, entries: await enqueue(trx, [{ kind: 'person', key: account.id }]) };
  });
}

/** One account or undefined for each id, in the order of the ids. */
export async function findAccounts(db: Database, ids: readonly number[]): Promise<(Account | undefined)[]> {
  const rows = await db
    .selectFrom('accounts')
    .select(ACCOUNT_COLUMNS)
    .where(sql<boolean>`id = any(${ids}::int8[])`)
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** Whose profile picture this is. Reads nothing else: this decides who may see it. */
export async function findPictureOwner(db: Database, picture: string): Promise<Owner | undefined> {
  return db.selectFrom('accounts').select(['id', 'private']).where('picture', '=', picture).executeTakeFirst();
}

/**
 * What a password check reads. A later write goes ahead only if `tokenVersion` is still this one: a hash may have been
 * replaced by another of the same password.
 */
export interface Credentials {
  id: number;
  passwordHash: string;
  tokenVersion: number;
}

export async function findCredentials(
  db: Database,
  by: { id: number } | { email: string },
): Promise<Credentials | undefined> {
  const [column, value] = 'id' in by ? (['id', by.id] as const) : (['email', by.email] as const);
  return db
    .selectFrom('accounts')
    .select(['id', 'password_hash as passwordHash', 'token_version as tokenVersion'])
    .where(column, '=', value)
    .executeTakeFirst();
}

/** Stores a hash of the same password by newer parameters, unless the password has been changed meanwhile. */
export async function replaceHash(db: Database, secret: Credentials, passwordHash: string): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ password_hash: passwordHash })
    .where('id', '=', secret.id)
    .where('password_hash', '=', secret.passwordHash)
    .execute();
}

export interface AccountChange {
  name?: string | undefined;
  username?: string | undefined;
  email?: string | undefined;
  private?: boolean | undefined;
  /** A new picture, or null for none. */
  picture?: PendingImage | null | undefined;
  /** The new password's hash, and what the old one was checked against. */
  password?: { hash: string; checked: Credentials } | undefined;
}

export type AccountUpdate =
  | { outcome: 'updated'; account: Account; entries: number[] }
  /** The username or email is another's, the password is no longer the one that was checked, the account is gone. */
  | { outcome: 'taken' | 'stale' | 'accountDeleted' };

/** @throws StorageQuotaExceededError */
export async function updateAccount(db: Database, id: number, change: AccountChange): Promise<AccountUpdate> {
  try {
    return await db.transaction().execute((trx) => updateWithin(trx, id, change));
  } catch (error) {
    if (hasSqlState(error, '23505')) return { outcome: 'taken' };
    // Two who want each other's name wait for each other, until PostgreSQL ends one of them. The other has gone on.
    if (error instanceof StoreUnavailableError && hasSqlState(error.cause, '40P01'))
      return updateAccount(db, id, change);
    throw error;
  }
}

async function updateWithin(trx: DatabaseTransaction, id: number, change: AccountChange): Promise<AccountUpdate> {
  await lockShared(trx, { accounts: [id] });
  const old = await trx
    .selectFrom('accounts')
    .select(['picture', 'picture_bytes', 'token_version'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!old) return { outcome: 'accountDeleted' };
  const { name, username, email, password, picture } = change;
  if (password && password.checked.tokenVersion !== old.token_version) return { outcome: 'stale' };
  if (picture) await claimImage(trx, picture);
  if (picture !== undefined) await changeStoredBytes(trx, id, picture, old.picture_bytes);

  const account = await trx
    .updateTable('accounts')
    .set({
      ...(name !== undefined && { name }),
      ...(username !== undefined && { username, username_key: usernameKey(username) }),
      ...(email !== undefined && { email }),
      ...(change.private !== undefined && { private: change.private }),
      ...(picture !== undefined && { picture: picture?.name ?? null, picture_bytes: picture?.bytes ?? 0 }),
      ...(password && { password_hash: password.hash, token_version: old.token_version + 1 }),
      id,
    })
    .where('id', '=', id)
    .returning(ACCOUNT_COLUMNS)
    .executeTakeFirstOrThrow();
  if (password) await trx.deleteFrom('sessions').where('account_id', '=', id).execute();

  const entries = picture === undefined ? [] : await enqueue(trx, imageReferences(old.picture));
  return { outcome: 'updated', account, entries };
}

/**
 * Removes the account with its sessions, posts and images, provided that `checked` is still its password. Undefined when it
 * is not. The lock waits for whatever is being written for this account, and lets nothing new begin.
 */
export async function deleteAccount(db: Database, checked: Credentials): Promise<number[] | undefined> {
  return db.transaction().execute(async (trx) => {
    await lockExclusive(trx, { accounts: [checked.id] });
    const account = await trx
      .deleteFrom('accounts')
      .where('id', '=', checked.id)
      .where('token_version', '=', checked.tokenVersion)
      .returning('picture')
      .executeTakeFirst();
    if (!account) return undefined;
    const posts = await trx
      .deleteFrom('posts')
      .where('author_id', '=', checked.id)
      .returning(['id', 'image'])
      .execute();
    return enqueue(trx, [
      { kind: 'person', key: checked.id },
      ...imageReferences(account.picture, ...posts.map(({ image }) => image)),
      ...posts.map(({ id }) => ({ kind: 'post', key: id }) as const),
    ]);
  });
}

const hasSqlState = (error: unknown, code: string) => error instanceof Error && 'code' in error && error.code === code;
