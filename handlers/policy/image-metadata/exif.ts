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

const isLittleEndian = (tiff: Buffer) => tiff[0] === 0x49;

/** Returns the orientation in the first directory, 1 to 8, or undefined if it is missing or the directory is incomplete. */
function readOrientation(tiff: Buffer): number | undefined {
  const header = tiff.toString('latin1', 0, 4);
  if (header !== 'II*\0' && header !== 'MM\0*') return undefined;
  const readU16 = (at: number) => (isLittleEndian(tiff) ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const readU32 = (at: number) => (isLittleEndian(tiff) ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  if (tiff.length < HEADER_BYTES) return undefined;
  const directory = readU32(4);
  if (directory < HEADER_BYTES || directory + 2 > tiff.length) return undefined;
  const entries = directory + 2;
  const end = entries + readU16(directory) * ENTRY_BYTES;
  // The offset of the next directory must follow. This ensures that no block is shorter than its replacement.
  if (end + 4 > tiff.length) return undefined;
  for (let at = entries; at < end; at += ENTRY_BYTES) {
    if (readU16(at) !== ORIENTATION || readU16(at + 2) !== SHORT || readU32(at + 4) !== 1) continue;
    const value = readU16(at + 8);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}

/** Creates a TIFF whose only entry is the orientation (TIFF 6.0 section 2), in the byte order of the original. */
function createMinimalTiff(original: Buffer, orientation: number): Buffer {
  const tiff = Buffer.alloc(HEADER_BYTES + 2 + ENTRY_BYTES + 4);
  const little = isLittleEndian(original);
  const writeU16 = (value: number, at: number) =>
    little ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at);
  const writeU32 = (value: number, at: number) =>
    little ? tiff.writeUInt32LE(value, at) : tiff.writeUInt32BE(value, at);
  original.copy(tiff, 0, 0, 4);
  writeU32(HEADER_BYTES, 4);
  writeU16(1, 8);
  writeU16(ORIENTATION, 10);
  writeU16(SHORT, 12);
  writeU32(1, 14);
  writeU16(orientation, 18);
  return tiff;
}
