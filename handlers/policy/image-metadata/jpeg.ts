import { checkDimensions } from './dimensions.js';
import { type Edit, NO_BYTES, Walk } from './edits.js';
import { UnreadableImageError } from './errors.js';
import { findTiff, PREFIX_BYTES, reduceExif } from './exif.js';

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
const APP14 = 0xee;

const HEAD_BYTES = 4;
/** The length of a JFIF segment without a thumbnail: marker, length, "JFIF\0", version, units, densities and thumbnail size. */
const JFIF_BYTES = 18;
/** The length of an Adobe segment: marker, length, "Adobe", version, flags and color transform. */
const ADOBE_BYTES = 16;

/**
 * Walks a JPEG (ITU-T T.81 annex B) segment by segment. Of the application, comment and reserved segments, keeps only what
 * decoders need: JFIF, ICC profiles, Adobe's color transform, and the Exif orientation. Removes all bytes after the end of the
 * image, such as further pictures, videos and data of the camera's manufacturer.
 *
 * Like libjpeg, skips bytes between segments, and takes the end of the file for the end of the image.
 */
export function walkJpeg(bytes: Buffer): Edit[] {
  const walk = new Walk(bytes);
  let hasFrame = false;
  let hasScan = false;
  let hasExif = false;
  for (let at = 2; ; ) {
    walk.countElement();
    const start = findMarker(bytes, at);
    walk.removeStrayBytes(at, start);
    const marker = bytes[start + 1];
    if (marker === undefined || marker === EOI || marker === SOI) {
      if (marker === EOI) walk.removeStrayBytes(start + 2, bytes.length);
      // Another image or removed bytes are in the place of the end marker.
      else if (marker === SOI || walk.edits.at(-1)?.end === start)
        walk.replace(start, bytes.length, Buffer.from([0xff, EOI]));
      break;
    }
    const length = start + HEAD_BYTES > bytes.length ? 0 : bytes.readUInt16BE(start + 2);
    // A length counts its own two bytes. If it states less, they are still no stray bytes: without them, the next bytes would
    // become the length.
    const end = start + 2 + Math.max(length, 2);
    at = end;
    if (marker >= APP0) {
      const segmentEnd = Math.min(end, bytes.length);
      const content = start + HEAD_BYTES;
      const isExif = marker === APP1 && findTiff(bytes, content, segmentEnd) === content + PREFIX_BYTES;
      const replacement = reduceSegment(bytes, start, segmentEnd, isExif && !hasExif);
      if (replacement) walk.replace(start, segmentEnd, replacement);
      hasExif ||= isExif;
    } else if (marker === SOS) {
      if (hasFrame && end <= bytes.length) hasScan = true;
      at = findMarker(bytes, end);
    } else if (isFrameHeader(marker) && end <= bytes.length && end - start === 10 + 3 * (bytes[start + 9] ?? 0)) {
      checkDimensions(bytes.readUInt16BE(start + 7), bytes.readUInt16BE(start + 5));
      hasFrame = true;
    }
  }
  if (!hasScan) throw new UnreadableImageError('There is no image');
  return walk.edits;
}

/**
 * Returns the position of the next marker that is followed by a segment, or ends the image. Returns the length of the file if
 * there is none. Skips restart markers, which have no segment, and bytes FF that are data. A scan has both.
 */
function findMarker(bytes: Buffer, start: number): number {
  let isAfterFf = false;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (isAfterFf && byte >= 0xc0 && byte !== 0xff && (byte < 0xd0 || byte > 0xd7)) return at - 1;
    isAfterFf = byte === 0xff;
  }
  return bytes.length;
}

/** Returns whether a marker is SOFn. DHT, JPG and DAC are in the same range, but are not frame headers. */
const isFrameHeader = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/**
 * Returns the replacement for an application, comment or reserved segment: no bytes to remove it, or undefined if it needs no
 * change.
 */
function reduceSegment(bytes: Buffer, start: number, end: number, isFirstExif: boolean): Buffer | undefined {
  const marker = bytes[start + 1];
  const content = start + HEAD_BYTES;
  const name = bytes.toString('latin1', content, Math.min(content + 12, end));
  if (marker === APP0 && name.startsWith('JFIF\0')) {
    const hasThumbnail = end - start > JFIF_BYTES || (end - start === JFIF_BYTES && bytes.readUInt16BE(start + 16) > 0);
    if (!hasThumbnail) return undefined;
    return createSegment(APP0, Buffer.concat([bytes.subarray(content, start + JFIF_BYTES - 2), Buffer.alloc(2)]));
  }
  if (marker === APP2 && name.startsWith('ICC_PROFILE\0')) return undefined;
  if (marker === APP14 && name.startsWith('Adobe')) {
    if (end - start <= ADOBE_BYTES) return undefined;
    return createSegment(APP14, bytes.subarray(content, start + ADOBE_BYTES));
  }
  const exif = isFirstExif ? reduceExif(bytes, content, end) : NO_BYTES;
  return exif && exif.length > 0 ? createSegment(APP1, exif) : exif;
}

function createSegment(marker: number, content: Buffer): Buffer {
  const length = 2 + content.length;
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 255]), content]);
}
