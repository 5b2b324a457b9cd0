import { extname } from 'node:path';
import { FIELD_MESSAGES } from '../error-codes.js';
import { ImageRefusedError } from './image-metadata/errors.js';

/** An image type that may be uploaded, and the file extension under which it is stored. */
interface ImageType {
  readonly mediaType: string;
  readonly extension: string;
}

const jpeg: ImageType = { mediaType: 'image/jpeg', extension: 'jpg' };
const png: ImageType = { mediaType: 'image/png', extension: 'png' };
const gif: ImageType = { mediaType: 'image/gif', extension: 'gif' };
const webp: ImageType = { mediaType: 'image/webp', extension: 'webp' };
const avif: ImageType = { mediaType: 'image/avif', extension: 'avif' };

export const imageTypes: readonly ImageType[] = [jpeg, png, gif, webp, avif];

/** The maximum number of leading bytes that `detectImageType` reads: enough for a long list of brands in an AVIF. */
export const HEAD_BYTES = 4096;

/** Other names of media types. An animated PNG (APNG) counts as PNG: programs without support for it show its first frame. */
const aliases = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/apng', 'image/png'],
  ['image/vnd.mozilla.apng', 'image/png'],
]);

const canonicalType = (mediaType: string) => aliases.get(mediaType) ?? mediaType;

/**
 * Returns the type of an image by the signature at its beginning, or undefined if unknown. Does not check the rest of the
 * file.
 */
export function detectImageType(head: Uint8Array): ImageType | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES));
  const ascii = (start: number, end: number) => bytes.toString('latin1', start, end);

  if (ascii(0, 3) === '\xff\xd8\xff') return jpeg;
  if (ascii(0, 8) === '\x89PNG\r\n\x1a\n') return png;
  if (ascii(0, 6) === 'GIF87a' || ascii(0, 6) === 'GIF89a') return gif;
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return webp;
  if (ascii(4, 8) === 'ftyp' && readBrands(bytes).some((brand) => brand === 'avif' || brand === 'avis')) return avif;
  return undefined;
}

/**
 * Returns the brands in an `ftyp` box (ISO/IEC 14496-12 section 4.3). The box consists of its size, 'ftyp', the major
 * brand, the minor version, and compatible brands, with four bytes each.
 */
function readBrands(box: Buffer): string[] {
  const size = box.readUInt32BE(0);
  // A size of 0 means that the box extends to the end of the file.
  const end = size === 0 ? box.length : Math.min(size, box.length);
  const brands: string[] = [];
  // Skips the minor version, which is at offset 12.
  for (let at = 8; at + 4 <= end; at += at === 8 ? 8 : 4) brands.push(box.toString('latin1', at, at + 4));
  return brands;
}

/** Returns the media type of a stored image by its extension, or undefined if the extension is unknown. */
export function mediaTypeOf(fileName: string): string | undefined {
  return imageTypes.find(({ extension }) => `.${extension}` === extname(fileName))?.mediaType;
}

export function extensionOf(mediaType: string): string {
  const type = imageTypes.find((type) => type.mediaType === mediaType);
  if (!type) throw new TypeError(`Unsupported image type: ${mediaType}`);
  return type.extension;
}

/** Media types that leave the type of an image open. Some clients can declare nothing else. */
const openTypes = ['application/octet-stream', 'image/*'];

/** Returns whether a declared media type, or one in a list with commas, is the type of an image or leaves it open. */
const declaresType = (declared: string, mediaType: string): boolean =>
  declared
    .split(',')
    .map((type) => type.trim())
    .some((type) => openTypes.includes(type) || canonicalType(type) === mediaType);

/** The maximum length of a media type that an error message quotes. Registered names are not longer (RFC 6838 section 4.2). */
const MAX_MEDIA_TYPE_LENGTH = 255;

/**
 * Returns the media type of an image, which its signature determines.
 *
 * @param head the first bytes of the image
 * @param declared the media type that the part declares, `application/octet-stream` if none
 * @throws ImageRefusedError if the type is not accepted, or not the declared one
 */
export async function acceptedMediaType(head: Buffer, declared: string): Promise<string> {
  const detected = detectImageType(head);
  if (!detected) {
    const actual = await describeFileType(head);
    throw new ImageRefusedError('unsupported_image', actual && `${FIELD_MESSAGES.unsupported_image}, not ${actual}`);
  }
  const { mediaType } = detected;
  if (!declaresType(declared, mediaType)) {
    const shown = declared.length > MAX_MEDIA_TYPE_LENGTH ? 'another type' : declared;
    throw new ImageRefusedError(
      'image_type_mismatch',
      `is declared as ${shown}, but its bytes are ${mediaType}; the part must have the header Content-Type: ${mediaType}`,
    );
  }
  return mediaType;
}

/**
 * Returns the type of a rejected file, such as "HEIC" or "PDF", by its first bytes. Returns undefined if the type is unknown.
 * Only for messages: `detectImageType` decides which files are accepted.
 */
async function describeFileType(head: Uint8Array): Promise<string | undefined> {
  // Loaded on demand because files are rarely rejected.
  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(head).catch(() => undefined);
  // The library recognizes an SVG only as XML, and only with an XML declaration.
  if ((!type || type.ext === 'xml') && Buffer.from(head).includes('<svg')) return 'SVG';
  // The library skips byte-order marks and ID3 tags, so it may detect an accepted type although `detectImageType` does not.
  // A message such as "must be a PNG, not PNG" would be confusing.
  if (!type || imageTypes.some(({ mediaType }) => mediaType === canonicalType(type.mime))) return undefined;
  return type.ext.toUpperCase();
}
