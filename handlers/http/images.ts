import type { Readable } from 'node:stream';
import { type PendingImage, withPendingImage } from '../../db/outbox/pending-images.js';
import { hasRoomFor, type Replaced, StorageQuotaExceededError } from '../../db/storage-quota.js';
import type { Upload } from '../../generated/types.js';
import type { AppContext } from '../context.js';
import { extensionOf, mediaTypeOf } from '../policy/image-types.js';
import { payloadTooLarge } from './errors.js';
import { matches } from './etags.js';

type ImageResponse =
  | { status: 200; headers: Record<string, string>; body: Readable }
  | { status: 304; headers: Record<string, string> }
  | { status: 404; body: { message: string } };

export const NO_SUCH_IMAGE = { status: 404, body: { message: 'There is no such image.' } } as const;

type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Returns the bytes of an image, or 304. To be called only for a user who may see the image: a 304 reveals it too. A name is
 * given once and its bytes never change, so the name is the entity tag.
 */
export async function imageResponse(
  { images, config }: Pick<AppContext, 'config' | 'images'>,
  name: string,
  { origin, 'if-none-match': ifNoneMatch }: RequestHeaders,
): Promise<ImageResponse> {
  const type = mediaTypeOf(name);
  const image = type && (await images.get(name));
  if (!image) return NO_SUCH_IMAGE;
  const etag = `"${name}"`;
  const trusted = typeof origin === 'string' && config.corsOrigins.includes(origin);
  const caching = {
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    'Cross-Origin-Resource-Policy': trusted ? 'cross-origin' : 'same-site',
  };
  if (matches(ifNoneMatch, etag)) {
    image.stream.destroy();
    return { status: 304, headers: caching };
  }
  return {
    status: 200,
    headers: {
      ...caching,
      'Content-Type': type,
      'Content-Length': String(image.size),
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
    },
    body: image.stream,
  };
}

/** An upload, if there is one, and what has to be known of it before its bytes are stored. */
interface UploadContext<Result> {
  account: number;
  upload: Upload | undefined;
  replaced?: Replaced;
  /** Returns the result of an earlier request that this one repeats: then nothing is stored. */
  findEarlier?: (() => Promise<Result | undefined>) | undefined;
}

/**
 * Stores what was uploaded, if anything was, for `commit` to claim.
 *
 * @throws HttpError 413 when the account's storage quota would be exceeded
 */
export async function withUpload<Result>(
  context: AppContext,
  { account, upload, replaced, findEarlier }: UploadContext<Result>,
  commit: (image: PendingImage | undefined) => Promise<Result>,
): Promise<Result> {
  if (!upload) return commit(undefined);
  const sized = { bytes: upload.size, storageMaxBytes: context.config.account.storageMaxBytes };
  const hasRoom = await hasRoomFor(context.db, account, sized, replaced);
  // After that look: a request that has used up the room meanwhile may be the one that this one repeats.
  const earlier = await findEarlier?.();
  if (earlier) return earlier;
  try {
    if (!hasRoom) throw new StorageQuotaExceededError();
    const file = { path: upload.path, extension: extensionOf(upload.mediaType), ...sized };
    return await withPendingImage(context, file, commit);
  } catch (error) {
    if (!(error instanceof StorageQuotaExceededError)) throw error;
    context.metrics.quotaExceeded('storage');
    throw payloadTooLarge('The image would exceed the storage quota of your account. Delete or replace other images.');
  }
}
