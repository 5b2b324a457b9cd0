/** An image type that may be uploaded, and the file extension under which it is stored. */
export interface ImageType {
  readonly mediaType: string;
  readonly extension: string;
}

const jpeg: ImageType = { mediaType: 'image/jpeg', extension: 'jpg' };
const png: ImageType = { mediaType: 'image/png', extension: 'png' };
const gif: ImageType = { mediaType: 'image/gif', extension: 'gif' };
const webp: ImageType = { mediaType: 'image/webp', extension: 'webp' };
const avif: ImageType = { mediaType: 'image/avif', extension: 'avif' };

export const imageTypes: readonly ImageType[] = [jpeg, png, gif, webp, avif];

/** How much of a file's beginning `detectImageType` needs: an AVIF's list of brands may be long. */
export const HEAD_BYTES = 4096;

// Readers without support for animated PNG show its first frame, as a PNG.
const aliases = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/apng', 'image/png'],
]);

/** Returns the canonical name of a media type that a client declared. */
export const canonicalMediaType = (declared: string) => aliases.get(declared) ?? declared;

/** Returns the type of an image by its leading signature. The rest of the file is not checked. */
export function detectImageType(head: Uint8Array): ImageType | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES));
  const ascii = (start: number, end: number) => bytes.toString('latin1', start, end);

  if (ascii(0, 3) === '\xff\xd8\xff') return jpeg;
  if (ascii(0, 8) === '\x89PNG\r\n\x1a\n') return png;
  if (ascii(0, 6) === 'GIF87a' || ascii(0, 6) === 'GIF89a') return gif;
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return webp;
  if (ascii(4, 8) === 'ftyp' && brands(bytes).some((brand) => brand === 'avif' || brand === 'avis')) return avif;
  return undefined;
}

/** ISO/IEC 14496-12 section 4.3: size, 'ftyp', major brand, minor version, and compatible brands to the end of the box. */
function brands(box: Buffer): string[] {
  const size = box.readUInt32BE(0);
  // A size of 0 means that the box extends to the end of the file.
  const end = size === 0 ? box.length : Math.min(size, box.length);
  const found: string[] = [];
  for (let at = 8; at + 4 <= end; at += at === 8 ? 8 : 4) found.push(box.toString('latin1', at, at + 4));
  return found;
}

/** Returns the media type of a stored file by its extension. */
export function mediaTypeOf(fileName: string): string | undefined {
  const dot = fileName.lastIndexOf('.');
  return imageTypes.find(({ extension }) => dot > 0 && extension === fileName.slice(dot + 1))?.mediaType;
}

/** Returns the file extension for a canonical media type. */
export function extensionOf(mediaType: string): string {
  const type = imageTypes.find((type) => type.mediaType === mediaType);
  if (!type) throw new TypeError(`Unsupported image type: ${mediaType}`);
  return type.extension;
}
