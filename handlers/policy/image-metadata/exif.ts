import { NO_BYTES } from './findings.js';

const ORIENTATION = 0x0112;
const SHORT = 3;
const HEADER_BYTES = 8;
const ENTRY_BYTES = 12;

/** The bytes before the TIFF structure in JPEG, and sometimes in other formats. */
export const EXIF_PREFIX = Buffer.from('Exif\0\0', 'latin1');

/** A TIFF structure without entries. */
export const EMPTY_TIFF = Buffer.from('MM\0*\0\0\0\x08\0\0\0\0\0\0', 'latin1');

/**
 * Returns the replacement for an Exif block: only its orientation, or no bytes if the image is upright. Returns undefined
 * if the block contains nothing else already.
 *
 * @param tiff the beginning of the block, from the TIFF header on
 * @param length the length of the whole block, in bytes
 */
export function reduceExif(tiff: Buffer, length: number): Buffer | undefined {
  const orientation = readOrientation(tiff);
  if (orientation === undefined) return NO_BYTES;
  const minimal = minimalTiff(tiff, orientation);
  if (length === minimal.length && tiff.subarray(0, length).equals(minimal)) return undefined;
  return orientation === 1 ? NO_BYTES : minimal;
}

const isLittleEndian = (tiff: Buffer) => tiff[0] === 0x49;

/** Returns the orientation in the first directory, 1 to 8; undefined if it is missing or the directory is incomplete. */
function readOrientation(tiff: Buffer): number | undefined {
  const header = tiff.toString('latin1', 0, 4);
  if (header !== 'II*\0' && header !== 'MM\0*') return undefined;
  const u16 = (at: number) => (isLittleEndian(tiff) ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const u32 = (at: number) => (isLittleEndian(tiff) ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  if (tiff.length < HEADER_BYTES) return undefined;
  const directory = u32(4);
  if (directory < HEADER_BYTES || directory + 2 > tiff.length) return undefined;
  const entries = directory + 2;
  const end = entries + u16(directory) * ENTRY_BYTES;
  // The offset of the next directory follows. A complete block is never shorter than its replacement.
  if (end + 4 > tiff.length) return undefined;
  for (let at = entries; at < end; at += ENTRY_BYTES) {
    if (u16(at) !== ORIENTATION || u16(at + 2) !== SHORT || u32(at + 4) !== 1) continue;
    const value = u16(at + 8);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}

/** Returns a header and one directory with one entry (TIFF 6.0 section 2), in the byte order of the original. */
function minimalTiff(original: Buffer, orientation: number): Buffer {
  const tiff = Buffer.alloc(HEADER_BYTES + 2 + ENTRY_BYTES + 4);
  const little = isLittleEndian(original);
  const u16 = (value: number, at: number) => (little ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at));
  const u32 = (value: number, at: number) => (little ? tiff.writeUInt32LE(value, at) : tiff.writeUInt32BE(value, at));
  original.copy(tiff, 0, 0, 4);
  u32(HEADER_BYTES, 4);
  u16(1, 8);
  u16(ORIENTATION, 10);
  u16(SHORT, 12);
  u32(1, 14);
  u16(orientation, 18);
  return tiff;
}
