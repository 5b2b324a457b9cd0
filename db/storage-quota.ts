import { type RawBuilder, sql } from 'kysely';
import type { Database, DatabaseTransaction } from './postgres/index.js';

/**
 * The storage quota: what an account's images may take up together. `accounts.stored_bytes` is the sum of the sizes that
 * its rows hold, and changes in the transaction that changes one of them, under the lock of the account's row. So a check
 * costs the same however many images there are, and two uploads cannot exceed the quota together.
 */
export class StorageQuotaExceededError extends Error {
  readonly code = 'storage_quota_exceeded';

  constructor() {
    super("The image would exceed the account's storage quota");
    this.name = 'StorageQuotaExceededError';
  }
}

/** An image to be stored, and the most bytes that its account may have stored with it. */
export interface Sized {
  bytes: number;
  storageMaxBytes: number;
}

/** The image that a new one replaces: that of a post, or the profile picture. */
export type Replaced = { post: number } | 'picture';

/** Returns whether an image would fit now. A cheap first look: `changeStoredBytes` decides. */
export async function hasRoomFor(
  db: Database,
  account: number,
  { bytes, storageMaxBytes }: Sized,
  replaced?: Replaced,
): Promise<boolean> {
  const { rows } = await sql`
    select from accounts
    where id = ${account} and stored_bytes + ${bytes}::int8 - ${sizeOf(account, replaced)} > ${storageMaxBytes}::int8
      and ${bytes}::int8 > ${sizeOf(account, replaced)}`.execute(db);
  return rows.length === 0;
}

function sizeOf(account: number, replaced: Replaced | undefined): RawBuilder<unknown> {
  if (replaced === undefined) return sql`0`;
  if (replaced === 'picture') return sql`picture_bytes`;
  return sql`coalesce((select image_bytes from posts where id = ${replaced.post} and author_id = ${account}), 0)`;
}

/**
 * Counts a new image in the place of one of `replacedBytes`, or of none. A smaller image always fits, also where the
 * operator has lowered the quota below what is stored.
 *
 * @throws StorageQuotaExceededError
 */
export async function changeStoredBytes(
  trx: DatabaseTransaction,
  account: number,
  image: Sized | null,
  replacedBytes: number,
): Promise<void> {
  const change = (image?.bytes ?? 0) - replacedBytes;
  if (change === 0) return;
  const fits =
    image && change > 0
      ? sql<boolean>`stored_bytes + ${change}::int8 <= ${image.storageMaxBytes}::int8`
      : sql<boolean>`true`;
  const { numUpdatedRows } = await trx
    .updateTable('accounts')
    .set({ stored_bytes: sql`stored_bytes + ${change}::int8` })
    .where('id', '=', account)
    .where(fits)
    .executeTakeFirst();
  if (image && numUpdatedRows === 0n) throw new StorageQuotaExceededError();
}
