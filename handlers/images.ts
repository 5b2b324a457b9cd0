import type { Readable } from 'node:stream';
import type { ImageStore } from '../db/images/index.js';
import { type PendingImage, withPendingImage } from '../db/pending-images.js';
import type { Upload } from '../generated/handlers.js';
import type { App } from './app.js';
import { matches } from './etags.js';
import { extensionOf, mediaTypeOf } from './image-types.js';

type ImageAnswer =
  | { status: 200; headers: Record<string, string>; body: Readable }
  | { status: 304; headers: Record<string, string> }
  | { status: 404; body: { message: string } };

export const NO_SUCH_IMAGE = { status: 404, body: { message: 'There is no such image.' } } as const;

/**
 * Answers the bytes of an image that the caller has been found to see: before that, not even a 304 may go out. A name is
 * given once and its bytes never change, so the name is the entity tag.
 */
export async function imageAnswer(
  images: ImageStore,
  name: string,
  ifNoneMatch: string | string[] | undefined,
): Promise<ImageAnswer> {
  const type = mediaTypeOf(name);
  const image = type && (await images.get(name));
  if (!image) return NO_SUCH_IMAGE;
  const etag = `"${name}"`;
  const caching = { ETag: etag, 'Cache-Control': 'private, no-cache' };
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

/** Stores what was uploaded, if anything was, for `commit` to claim. */
export async function withUpload<Result>(
  app: App,
  upload: Upload | undefined,
  commit: (image: PendingImage | undefined) => Promise<Result>,
): Promise<Result> {
  if (!upload) return commit(undefined);
  return withPendingImage(app, { path: upload.path, extension: extensionOf(upload.mediaType) }, commit);
}
