import { type RawBuilder, sql } from 'kysely';
import type { Database, DatabaseTransaction } from './postgres/index.js';

/**
 * The storage quota limits the total size of an account's images. `accounts.stored_bytes` is the sum of the sizes in the rows
 * of the account and its posts. It changes in the same transaction as they do, under the lock of the account's row. So a
 * check takes constant time, and two concurrent uploads cannot exceed the quota together.
 */

export class StorageQuotaExceededError extends Error {
  readonly code = 'storage_quota_exceeded';

  constructor() {
    super("The image would exceed the account's storage quota");
    this.name = 'StorageQuotaExceededError';
  }
}

/** The size of a new image, and its account's quota. */
export interface SizedImage {
  bytes: number;
  storageMaxBytes: number;
}

/** The image that a new one replaces: a post's image or the profile picture. */
export type ReplacedImage = { post: number } | 'picture';

/** Returns whether an image fits now. A cheap check before the upload is stored: `changeStoredBytes` is authoritative. */
export async function fitsStorageQuota(
  db: Database,
  account: number,
  { bytes, storageMaxBytes }: SizedImage,
  replaced?: ReplacedImage,
): Promise<boolean> {
  const { rows } = await sql`
    select from accounts
    where id = ${account} and stored_bytes + ${bytes}::int8 - ${sizeOf(account, replaced)} > ${storageMaxBytes}::int8
      and ${bytes}::int8 > ${sizeOf(account, replaced)}`.execute(db);
  return rows.length === 0;
}

function sizeOf(account: number, replaced: ReplacedImage | undefined): RawBuilder<unknown> {
  if (replaced === undefined) return sql`0`;
  if (replaced === 'picture') return sql`picture_bytes`;
  return sql`coalesce((select image_bytes from posts where id = ${replaced.post} and author_id = ${account}), 0)`;
}

/**
 * Adds the size of a new image, if any, and subtracts `replacedBytes`. A smaller image always fits, even if the operator has
 * lowered the quota below the stored bytes.
 *
 * @throws StorageQuotaExceededError
 */
export async function changeStoredBytes(
  trx: DatabaseTransaction,
  account: number,
  image: SizedImage | null,
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
