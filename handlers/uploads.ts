import type { ImageFile } from '../db/images/index.js';
import type { AppContext } from './context.js';
import { errorResponse } from './errors.js';
import type { Upload } from './operation.js';
import { extensionOf } from './policy/image-types.js';

/** Converts an upload, if there is one, to the file that the image store takes. */
export const imageFileOf = (upload: Upload | undefined): ImageFile | undefined =>
  upload && { ...upload, bytes: upload.size, extension: extensionOf(upload.mediaType) };

/** Returns the 413 for an image that would exceed the storage quota of its account, and counts it in the metrics. */
export function quotaExceeded({ metrics }: AppContext) {
  metrics.storageQuotaExceeded();
  return errorResponse(
    'storage_quota_exceeded',
    'The image would exceed the storage quota of your account. Delete or replace other images.',
  );
}
