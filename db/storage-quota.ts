import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database, DatabaseTransaction } from './postgres/index.js';

/*
 * The storage quota limits the total size of an account's images.
 *
 * `accounts.stored_bytes` contains the sum of `picture_bytes` of the account and `image_bytes` of its posts, so a check takes
 * constant time. A transaction that changes one of the sizes also changes the sum, while it holds a lock on the account's row.
 * Two concurrent uploads therefore cannot exceed the quota together.
 */

export class StorageQuotaExceededError extends Error {
  readonly code = 'storage_quota_exceeded';

  constructor() {
    super("The image would exceed the account's storage quota");
    this.name = 'StorageQuotaExceededError';
  }
}

/** The size of a new image and the quota of its account. */
export interface ImageWithQuota {
  bytes: number;
  storageMaxBytes: number;
}

/** The image that a new one replaces: the image of a post, by the post's id, or the profile picture. */
export type ReplacedImage = { post: number } | 'picture';

/**
 * Builds a condition on the account's row: whether a new image is within the quota when it replaces one of `replacedBytes`
 * bytes. A new image that is not larger than the old one is always accepted, even if the operator has lowered the quota below
 * the stored bytes.
 */
export const isWithinQuota = (
  { bytes, storageMaxBytes }: ImageWithQuota,
  replacedBytes: RawBuilder<unknown> = sql`0`,
) =>
  sql<SqlBool>`(${bytes}::int8 <= ${replacedBytes}
    or stored_bytes + ${bytes}::int8 - ${replacedBytes} <= ${storageMaxBytes}::int8)`;

/** Returns whether an image is currently within the quota. `createPost` and `changeStoredBytes` check again. */
export async function fitsStorageQuota(
  db: Database,
  account: number,
  image: ImageWithQuota,
  replaced?: ReplacedImage,
): Promise<boolean> {
  const { rows } = await sql`
    select from accounts
    where id = ${account} and not ${isWithinQuota(image, replacedBytesOf(account, replaced))}`.execute(db);
  return rows.length === 0;
}

/** Builds an SQL expression for the size of the replaced image. */
function replacedBytesOf(account: number, replaced: ReplacedImage | undefined): RawBuilder<unknown> {
  if (replaced === undefined) return sql`0`;
  if (replaced === 'picture') return sql`picture_bytes`;
  return sql`coalesce((select image_bytes from posts where id = ${replaced.post} and author_id = ${account}), 0)`;
}

/**
 * Updates the stored bytes of an account when a new image, or none, replaces an image of `replacedBytes` bytes.
 *
 * @param image null if the old image is only removed
 * @throws StorageQuotaExceededError
 */
export async function changeStoredBytes(
  trx: DatabaseTransaction,
  account: number,
  image: ImageWithQuota | null,
  replacedBytes: number,
): Promise<void> {
  const change = (image?.bytes ?? 0) - replacedBytes;
  if (change === 0) return;
  const { numUpdatedRows } = await trx
    .updateTable('accounts')
    .set({ stored_bytes: sql`stored_bytes + ${change}::int8` })
    .where('id', '=', account)
    .where(image ? isWithinQuota(image, sql`${replacedBytes}::int8`) : sql<SqlBool>`true`)
    .executeTakeFirst();
  if (image && numUpdatedRows === 0n) throw new StorageQuotaExceededError();
}
