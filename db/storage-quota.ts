import type { DatabaseTransaction } from './postgres/index.js';

/*
 * The storage quota limits the total size of an account's images.
 *
 * `accounts.stored_bytes` contains the sum of `picture_bytes` of the account and `image_bytes` of its posts, so a check takes
 * constant time. A transaction that changes one of the sizes also changes the sum. Two concurrent uploads therefore cannot
 * exceed the quota together.
 *
 * A new image that is not larger than the one it replaces is always accepted, even if the operator has lowered the quota below
 * the stored bytes.
 */

/** A change of the stored bytes of an account, which is negative if an image is removed. */
interface StoredBytesChange {
  account: number;
  bytes: number;
  /** The quota. */
  maxBytes: number;
}

/** Changes the stored bytes of an account. Returns false, and changes nothing, if they would exceed the quota. */
export async function changeStoredBytes(
  trx: DatabaseTransaction,
  { account, bytes, maxBytes }: StoredBytesChange,
): Promise<boolean> {
  if (bytes === 0) return true;
  let update = trx
    .updateTable('accounts')
    .set((eb) => ({ stored_bytes: eb('stored_bytes', '+', bytes) }))
    .where('id', '=', account);
  if (bytes > 0) update = update.where('stored_bytes', '<=', maxBytes - bytes);
  const { numUpdatedRows } = await update.executeTakeFirst();
  return numUpdatedRows > 0n;
}
