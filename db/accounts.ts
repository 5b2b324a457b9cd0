import { sql } from 'kysely';
import pg from 'pg';
import type { SocialGraph } from './graph/index.js';
import { enqueue, imageReferences, type OutboxEntry } from './outbox/index.js';
import { claimImage, type PendingImage } from './outbox/pending-images.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockExclusive, lockShared } from './postgres/locks.js';
import type { AccountRow } from './schema.js';
import { changeStoredBytes } from './storage-quota.js';
import { StoreUnavailableError } from './support/errors.js';
import type { Owner } from './visibility.js';

/** An account without its password hash and token version. */
export type Account = Pick<AccountRow, 'id' | 'name' | 'username' | 'email' | 'private' | 'picture'>;

export const ACCOUNT_COLUMNS = ['id', 'name', 'username', 'email', 'private', 'picture'] as const;

/**
 * Returns the key under which a username is unique: equal for usernames that are equal under NFKC case folding. JavaScript
 * has no case folding. Lower case, then upper case, has the same effect (ß, ẞ and ss; σ and ς), but would map ı to i, so ı is
 * left as it is.
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

/** The fields that are unique among accounts, by the names of their constraints. */
const UNIQUE_FIELDS = new Map([
  ['accounts_username_key', 'username'],
  ['accounts_email', 'email'],
] as const);

/** The outcome of a write whose username or email another account has. */
export interface Taken {
  outcome: 'taken';
  field: 'username' | 'email';
}

/** Returns the outcome for the error of a write, and throws any other error again. */
function takenOrThrow(error: unknown): Taken {
  const constraint = error instanceof pg.DatabaseError ? error.constraint : undefined;
  const field = UNIQUE_FIELDS.get(constraint as never);
  if (!field) throw error;
  return { outcome: 'taken', field };
}

/** Creates an account. Returns its id and the outbox entries to deliver, unless the username or email is taken. */
export async function createAccount(
  { db, graph }: { db: Database; graph: Pick<SocialGraph, 'hasNodes'> },
  { name, username, email, passwordHash }: Registration,
): Promise<{ outcome: 'created'; id: number; entries: OutboxEntry[] } | Taken> {
  const creation = db.transaction().execute(async (trx) => {
    const { id } = await trx
      .insertInto('accounts')
      .values({ name, username, username_key: usernameKey(username), email, password_hash: passwordHash })
      .returning('id')
      .executeTakeFirstOrThrow();
    const entries = graph.hasNodes ? await enqueue(trx, [{ kind: 'person', key: id }]) : [];
    return { outcome: 'created', id, entries } as const;
  });
  return creation.catch(takenOrThrow);
}

/** Returns one account or undefined for each id, in the order of the ids. */
export async function findAccounts(db: Database, ids: readonly number[]): Promise<(Account | undefined)[]> {
  const rows = await db
    .selectFrom('accounts')
    .select(ACCOUNT_COLUMNS)
    .where(sql<boolean>`id = any(${ids}::int8[])`)
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** Returns the owner of a profile picture. Reads no profile: the viewer may not be allowed to see it. */
export async function findPictureOwner(db: Database, picture: string): Promise<Owner | undefined> {
  return db.selectFrom('accounts').select(['id', 'private']).where('picture', '=', picture).executeTakeFirst();
}

/**
 * The data of a password check. Later writes compare `tokenVersion`, not the hash: a rehash changes the hash, but not the
 * password.
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
  const query = db
    .selectFrom('accounts')
    .select(['id', 'password_hash as passwordHash', 'token_version as tokenVersion']);
  return ('id' in by ? query.where('id', '=', by.id) : query.where('email', '=', by.email)).executeTakeFirst();
}

/** Stores a hash of the same password with newer parameters, unless the stored hash has changed since it was read. */
export async function replacePasswordHash(db: Database, checked: Credentials, passwordHash: string): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ password_hash: passwordHash })
    .where('id', '=', checked.id)
    .where('password_hash', '=', checked.passwordHash)
    .execute();
}

export interface AccountChange {
  name?: string | undefined;
  username?: string | undefined;
  email?: string | undefined;
  private?: boolean | undefined;
  /** A new picture, or null to remove the current one. */
  picture?: PendingImage | null | undefined;
  /** The new password's hash, and the credentials that the old password was checked against. */
  password?: { hash: string; checked: Credentials } | undefined;
}

export type AccountUpdate =
  | { outcome: 'updated'; account: Account; entries: OutboxEntry[] }
  | Taken
  /** `stale`: the password has changed since it was checked. */
  | { outcome: 'stale' | 'accountDeleted' };

/**
 * Updates an account. A new password deletes all its sessions.
 *
 * @throws StorageQuotaExceededError
 * @throws StoreUnavailableError if the picture can no longer be claimed: see `claimImage`
 */
export async function updateAccount(db: Database, id: number, change: AccountChange): Promise<AccountUpdate> {
  try {
    return await db.transaction().execute((trx) => updateInTransaction(trx, id, change));
  } catch (error) {
    // Deadlock: two accounts swap usernames. PostgreSQL has aborted this transaction, so the other one continues.
    if (error instanceof StoreUnavailableError && hasSqlState(error.cause, '40P01'))
      return updateAccount(db, id, change);
    return takenOrThrow(error);
  }
}

async function updateInTransaction(
  trx: DatabaseTransaction,
  id: number,
  change: AccountChange,
): Promise<AccountUpdate> {
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
    // `id` is set to itself, since a SET clause must not be empty.
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
 * Deletes the account with its sessions and posts, and returns the outbox entries that remove its images and graph nodes.
 * Returns undefined if the password has changed since it was checked, or the account is already deleted. The exclusive lock
 * waits for writes in progress and blocks new ones.
 */
export async function deleteAccount(db: Database, checked: Credentials): Promise<OutboxEntry[] | undefined> {
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
