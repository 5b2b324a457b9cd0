import type { Readable } from 'node:stream';
import { type PendingImage, withPendingImage } from '../../db/outbox/pending-images.js';
import { fitsStorageQuota, type ReplacedImage, StorageQuotaExceededError } from '../../db/storage-quota.js';
import type { AppContext } from '../context.js';
import type { Upload } from '../operation.js';
import { extensionOf, mediaTypeOf } from '../policy/image-types.js';
import { errorResponse, HttpError } from './errors.js';
import { matchesEtag } from './etags.js';

type ImageResponse =
  | { status: 200; headers: Record<string, string>; body: Readable }
  | { status: 304; headers: Record<string, string> }
  | typeof IMAGE_NOT_FOUND;

export const IMAGE_NOT_FOUND = errorResponse('not_found', 'There is no such image.');

type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Returns the response for an image: 200, 304 or 404. Call it only if the user may see the image, because even a 304
 * reveals that the image exists. The name serves as the entity tag, because names are unique and images never change.
 */
export async function serveImage(
  { images, config }: Pick<AppContext, 'config' | 'images'>,
  name: string,
  { origin, 'if-none-match': ifNoneMatch }: RequestHeaders,
): Promise<ImageResponse> {
  const type = mediaTypeOf(name);
  if (!type) return IMAGE_NOT_FOUND;
  const etag = `"${name}"`;
  const trusted = typeof origin === 'string' && config.corsOrigins.includes(origin);
  const commonHeaders = {
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    'Cross-Origin-Resource-Policy': trusted ? 'cross-origin' : 'same-site',
  };
  // Needs no call to the image store.
  if (matchesEtag(ifNoneMatch, etag)) return { status: 304, headers: commonHeaders };
  const image = await images.get(name);
  if (!image) return IMAGE_NOT_FOUND;
  return {
    status: 200,
    headers: {
      ...commonHeaders,
      'Content-Type': type,
      'Content-Length': String(image.size),
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
    },
    body: image.stream,
  };
}

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
 * `commit` or of the earlier request.
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
  const isWithinQuota = await fitsStorageQuota(context.db, account, sizeAndQuota, replaced);
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
