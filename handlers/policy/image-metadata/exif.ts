import { NO_BYTES } from './findings.js';

const ORIENTATION = 0x0112;
const SHORT = 3;
const HEADER_BYTES = 8;
const ENTRY_BYTES = 12;

/** The bytes that precede the TIFF structure in a JPEG, and sometimes in other formats. */
export const EXIF_PREFIX = Buffer.from('Exif\0\0', 'latin1');

/** A TIFF structure without entries. */
export const EMPTY_TIFF = Buffer.from('MM\0*\0\0\0\x08\0\0\0\0\0\0', 'latin1');

/**
 * Returns the replacement for an Exif block: a block with only the orientation, or no bytes if the image is upright or the
 * orientation cannot be read. Returns undefined if the block needs no change, because it contains only the orientation.
 *
 * @param tiff the first bytes of the block. The block is a TIFF structure, and may be longer than this buffer.
 * @param length the length of the whole block, in bytes
 */
export function reduceExif(tiff: Buffer, length: number): Buffer | undefined {
  const orientation = readOrientation(tiff);
  if (orientation === undefined) return NO_BYTES;
  const minimal = createMinimalTiff(tiff, orientation);
  if (length === minimal.length && tiff.subarray(0, length).equals(minimal)) return undefined;
  return orientation === 1 ? NO_BYTES : minimal;
}

/** Returns the orientation in the first directory, 1 to 8, or undefined if it is missing or cannot be read. */
function readOrientation(tiff: Buffer): number | undefined {
  const header = tiff.toString('latin1', 0, 4);
  if ((header !== 'II*\0' && header !== 'MM\0*') || tiff.length < HEADER_BYTES) return undefined;
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.length);
  const littleEndian = isLittleEndian(tiff);
  const directory = view.getUint32(4, littleEndian);
  if (directory < HEADER_BYTES || directory + 2 > tiff.length) return undefined;
  const entries = directory + 2;
  const end = entries + view.getUint16(directory, littleEndian) * ENTRY_BYTES;
  // The offset of the next directory must follow. This ensures that no block is shorter than its replacement.
  if (end + 4 > tiff.length) return undefined;
  for (let at = entries; at < end; at += ENTRY_BYTES) {
    if (view.getUint16(at, littleEndian) !== ORIENTATION) continue;
    if (view.getUint16(at + 2, littleEndian) !== SHORT || view.getUint32(at + 4, littleEndian) !== 1) continue;
    const value = view.getUint16(at + 8, littleEndian);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}

/** Creates a TIFF whose only entry is the orientation (TIFF 6.0 section 2), in the byte order of the original. */
function createMinimalTiff(original: Buffer, orientation: number): Buffer {
  const tiff = Buffer.alloc(HEADER_BYTES + 2 + ENTRY_BYTES + 4);
  original.copy(tiff, 0, 0, 4);
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.length);
  const littleEndian = isLittleEndian(original);
  view.setUint32(4, HEADER_BYTES, littleEndian);
  view.setUint16(8, 1, littleEndian);
  view.setUint16(10, ORIENTATION, littleEndian);
  view.setUint16(12, SHORT, littleEndian);
  view.setUint32(14, 1, littleEndian);
  view.setUint16(18, orientation, littleEndian);
  return tiff;
}

const isLittleEndian = (tiff: Buffer) => tiff[0] === 0x49;
