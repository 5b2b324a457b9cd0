import { UnreadableImageError } from './errors.js';
import { EXIF_PREFIX, reduceExif } from './exif.js';
import { type Findings, NO_BYTES } from './findings.js';
import { type ImageFile, READ_BUFFER_BYTES } from './image-file.js';
import { removeTrailer } from './trailer.js';

const EOI = 0xd9;
const SOS = 0xda;
const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
const APP14 = 0xee;
/** The frame header of a JPEG-LS (ITU-T T.87), which uses further markers and is not parsed. */
const SOF55 = 0xf7;
const COM = 0xfe;

/** The length of a JFIF segment without a thumbnail: marker, length, "JFIF\0", version, units, densities and thumbnail size. */
const JFIF_BYTES = 18;
/** The length of an Adobe segment: marker, length, "Adobe", version, flags and color transform. */
const ADOBE_BYTES = 16;

/**
 * Walks a JPEG (ITU-T T.81 annex B) segment by segment. Of the application, comment and reserved segments, keeps only what
 * decoders need: JFIF, ICC profiles, Adobe's color transform, and the Exif orientation. Removes all bytes after the end of the
 * image, such as further pictures, videos and data of the camera's manufacturer.
 */
export async function walkJpeg(file: ImageFile, findings: Findings): Promise<void> {
  let hasFrame = false;
  let hasScan = false;
  let hasExif = false;
  let hasUnconfirmedMetadata = false;
  for (let at = 2; ; ) {
    await findings.countElement();
    const lead = await file.read(at, 2);
    if (lead[0] !== 0xff) throw new UnreadableImageError('A segment does not begin with a marker');
    // A removed or reduced segment counts as metadata only if a marker follows. Otherwise it may be random bytes.
    findings.hasMetadata ||= hasUnconfirmedMetadata;
    const marker = lead[1] as number;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === EOI) {
      if (!hasScan) throw new UnreadableImageError('There is no image before the end marker');
      return removeTrailer(file, at + 2, findings);
    }
    if (isStandalone(marker)) {
      at += 2;
      continue;
    }
    if (marker < 0xc0 || marker === 0xd8 || marker === SOF55)
      throw new UnreadableImageError('There is an unknown marker');
    const length = 2 + (await file.read(at + 2, 2)).readUInt16BE(0);
    if (length < 4 || at + length > file.size) {
      // A comment has no signature that `seemsToContainMetadata` could find, so a truncated one counts as metadata here. The
      // exception is the first segment, which may consist of random bytes.
      findings.hasMetadata ||= marker === COM && at > 2;
      throw new UnreadableImageError('A segment has an invalid length');
    }
    if (isFrameHeader(marker)) {
      const frame = await file.read(at, 10);
      const components = frame[9] as number;
      if (length !== 10 + 3 * components || components === 0)
        throw new UnreadableImageError('A frame header is malformed');
      findings.checkDimensions(frame.readUInt16BE(7), frame.readUInt16BE(5));
      hasFrame = true;
    }
    if (marker >= APP0 && marker <= COM) {
      const segment = await file.read(at, Math.min(length, READ_BUFFER_BYTES));
      const replacement = reduceSegment(marker, segment, length, hasExif);
      if (replacement) findings.replace(at, length, replacement);
      if (marker === APP1 && replacement?.length !== 0) hasExif = true;
      hasUnconfirmedMetadata ||= replacement !== undefined;
    }
    at += length;
    if (marker === SOS) {
      if (!hasFrame) throw new UnreadableImageError('A scan precedes its frame header');
      hasScan = true;
      at = await skipScan(file, at);
      if (at === file.size) return;
    }
  }
}

/** Returns whether a marker has no segment: TEM or RSTn. */
const isStandalone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);

/** Returns whether a marker is SOFn. DHT, JPG and DAC are in the same range, but are not frame headers. */
const isFrameHeader = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/**
 * Returns the replacement for an application, comment or reserved segment: no bytes to remove it, or undefined if it needs no
 * change.
 */
function reduceSegment(marker: number, segment: Buffer, length: number, hasExif: boolean): Buffer | undefined {
  const startsWith = (name: string) => segment.toString('latin1', 4, 4 + name.length) === name;
  if (marker === APP0 && startsWith('JFIF\0')) {
    const hasThumbnail = length > JFIF_BYTES || (length === JFIF_BYTES && segment.readUInt16BE(16) !== 0);
    if (!hasThumbnail) return undefined;
    const withoutThumbnail = Buffer.from(segment.subarray(0, JFIF_BYTES));
    withoutThumbnail.writeUInt16BE(JFIF_BYTES - 2, 2);
    withoutThumbnail.writeUInt16BE(0, 16);
    return withoutThumbnail;
  }
  if (marker === APP2 && startsWith('ICC_PROFILE\0')) return undefined;
  if (marker === APP14 && startsWith('Adobe')) {
    if (length <= ADOBE_BYTES) return undefined;
    const withoutRest = Buffer.from(segment.subarray(0, ADOBE_BYTES));
    withoutRest.writeUInt16BE(ADOBE_BYTES - 2, 2);
    return withoutRest;
  }
  if (marker === APP1 && startsWith('Exif\0') && !hasExif) {
    const start = 4 + EXIF_PREFIX.length;
    const tiff = reduceExif(segment.subarray(start), length - start);
    if (tiff === undefined) return undefined;
    if (tiff.length > 0) return createExifSegment(tiff);
  }
  return NO_BYTES;
}

function createExifSegment(tiff: Buffer): Buffer {
  const head = Buffer.from([0xff, APP1, 0, 2 + EXIF_PREFIX.length + tiff.length]);
  return Buffer.concat([head, EXIF_PREFIX, tiff]);
}

/**
 * Returns the position of the marker after the data of a scan, or the size of the file if no marker follows. In the data, a
 * byte FF is followed by 00 or FF, or belongs to a restart marker. If there are many such bytes, this loop is far faster
 * than a search for each of them.
 */
async function skipScan(file: ImageFile, start: number): Promise<number> {
  let isAfterFf = false;
  for (let at = start; at < file.size; ) {
    const bytes = await file.readAvailable(at);
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      if (isAfterFf && byte !== 0 && byte !== 0xff && (byte < 0xd0 || byte > 0xd7)) return at + index - 1;
      isAfterFf = byte === 0xff;
    }
    at += bytes.length;
  }
  return file.size;
}
