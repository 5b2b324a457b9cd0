import type { Readable } from 'node:stream';
import { canSee, type Owner } from '../db/visibility.js';
import type { AppContext } from './context.js';
import { errorResponse } from './errors.js';
import { matchesEtag } from './etags.js';
import type { Request } from './operation.js';
import { mediaTypeOf } from './policy/image-types.js';

type ImageResponse =
  | { status: 200; headers: Record<string, string>; body: Readable }
  | { status: 304; headers: Record<string, string> }
  | typeof IMAGE_NOT_FOUND;

const IMAGE_NOT_FOUND = errorResponse('not_found', 'There is no such image.');

/**
 * Returns the response for an image: 200, 304, or 404 if it does not exist or the user may not see it. The name serves as the
 * entity tag, because names are unique and images never change.
 *
 * @param owner the owner of the image; undefined if no row refers to it
 */
export async function serveImage(
  { images, config, read }: Pick<AppContext, 'config' | 'images' | 'read'>,
  owner: Owner | undefined,
  { user, path, headers: { origin }, headerParameters }: Request<'getPostImage'> | Request<'getProfileImage'>,
): Promise<ImageResponse> {
  if (!(await canSee(user.account.id, owner, read.friends))) return IMAGE_NOT_FOUND;
  const name = path.filename;
  const type = mediaTypeOf(name);
  if (!type) return IMAGE_NOT_FOUND;
  const etag = `"${name}"`;
  const trusted = origin !== undefined && config.corsOrigins.includes(origin);
  const commonHeaders = {
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    'Cross-Origin-Resource-Policy': trusted ? 'cross-origin' : 'same-site',
  };
  // A 304 needs no call to the image store.
  if (matchesEtag(headerParameters['If-None-Match'], etag)) return { status: 304, headers: commonHeaders };
  const image = await images.get(name);
  if (!image) return IMAGE_NOT_FOUND;
  return {
    status: 200,
    headers: {
      ...commonHeaders,
      'Content-Type': type,
      'Content-Length': String(image.size),
      'Content-Security-Policy': "default-src 'none'; sandbox",
    },
    body: image.stream,
  };
}
