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
  { bytes, storageMaxBytes }: Record<keyof ImageWithQuota, number | RawBuilder<unknown>>,
  replacedBytes: RawBuilder<unknown> = sql`0`,
) =>
  sql<SqlBool>`(${bytes}::int8 <= ${replacedBytes}
    or stored_bytes + ${bytes}::int8 - ${replacedBytes} <= ${storageMaxBytes}::int8)`;

export interface QuotaQuery extends ImageWithQuota {
  account: number;
  replaced: ReplacedImage | undefined;
}

/**
 * Returns, for each image, whether it is currently within the quota of its account. `createPost` and `changeStoredBytes` check
 * again.
 */
export async function areWithinQuota(db: Database, queries: readonly QuotaQuery[]): Promise<boolean[]> {
  const accounts = queries.map(({ account }) => account);
  const sizes = queries.map(({ bytes }) => bytes);
  const quotas = queries.map(({ storageMaxBytes }) => storageMaxBytes);
  const replacesPicture = queries.map(({ replaced }) => replaced === 'picture');
  const replacedPosts = queries.map(({ replaced }) => (typeof replaced === 'object' ? replaced.post : null));
  const image = { bytes: sql`bytes`, storageMaxBytes: sql`quota` };
  const replacedBytes = sql`case when replaces_picture then picture_bytes else coalesce(image_bytes, 0) end`;
  // True for an account that does not exist: the operation reports it later.
  const { rows } = await sql<{ fits: boolean }>`
    select coalesce(${isWithinQuota(image, replacedBytes)}, true) as fits
    from unnest(${accounts}::int8[], ${sizes}::int8[], ${quotas}::int8[], ${replacesPicture}::bool[], ${replacedPosts}::int8[])
      with ordinality as query (account, bytes, quota, replaces_picture, replaced_post, number)
    left join accounts on accounts.id = account
    left join posts on posts.id = replaced_post and author_id = account
    order by number`.execute(db);
  return rows.map(({ fits }) => fits);
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
