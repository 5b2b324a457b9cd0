import { type PendingImage, withPendingImage } from '../db/outbox/pending-images.js';
import { type ReplacedImage, StorageQuotaExceededError } from '../db/storage-quota.js';
import type { AppContext } from './context.js';
import { HttpError } from './errors.js';
import type { Upload } from './operation.js';
import { extensionOf } from './policy/image-types.js';

/** An upload, if any, that counts towards the storage quota of an account. */
interface UploadOptions<Result> {
  account: number;
  upload: Upload | undefined;
  replaced?: ReplacedImage;
  /** Returns the result of an earlier request with the same idempotency key, if any. In that case, nothing is stored. */
  findEarlier?: (() => Promise<Result | undefined>) | undefined;
}

/**
 * Stores the upload, if any, as a pending image, which `commit` has to claim (see `pending-images.ts`). Returns the result of
 * `commit`, or the one that `findEarlier` has found.
 *
 * @throws HttpError 413 when the account's storage quota would be exceeded
 */
export async function withUpload<Result>(
  context: AppContext,
  { account, upload, replaced, findEarlier }: UploadOptions<Result>,
  commit: (image: PendingImage | undefined) => Promise<Result>,
): Promise<Result> {
  if (!upload) return commit(undefined);
  const sizeAndQuota = { bytes: upload.size, storageMaxBytes: context.config.account.storageMaxBytes };
  const isWithinQuota = await context.read.isWithinQuota({ account, replaced, ...sizeAndQuota });
  // Must come after the quota check. Otherwise the earlier request could commit in between and use up the quota, and this
  // request would be refused instead of getting the same result.
  const earlier = await findEarlier?.();
  if (earlier) return earlier;
  try {
    if (!isWithinQuota) throw new StorageQuotaExceededError();
    const file = { path: upload.path, extension: extensionOf(upload.mediaType), ...sizeAndQuota };
    return await withPendingImage(context, file, commit);
  } catch (error) {
    if (!(error instanceof StorageQuotaExceededError)) throw error;
    context.metrics.storageQuotaExceeded();
    throw new HttpError(
      'storage_quota_exceeded',
      'The image would exceed the storage quota of your account. Delete or replace other images.',
    );
  }
}
