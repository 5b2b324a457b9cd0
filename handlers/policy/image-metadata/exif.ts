import { NO_BYTES } from './edits.js';

const ORIENTATION = 0x0112;
const HEADER_BYTES = 8;
const ENTRY_BYTES = 12;

/** The sizes of the integer types in bytes: BYTE, SHORT, LONG, SBYTE, SSHORT and SLONG. Exif prescribes SHORT, readers take all. */
const integerSizes = new Map([
  [1, 1],
  [3, 2],
  [4, 4],
  [6, 1],
  [8, 2],
  [9, 4],
]);

/** The bytes that precede the TIFF structure in a JPEG, and sometimes in other formats. */
export const EXIF_PREFIX = 'Exif\0\0';

/** A TIFF structure without entries. */
export const EMPTY_TIFF = Buffer.from('MM\0*\0\0\0\x08\0\0\0\0\0\0', 'latin1');

/**
 * Returns the replacement for an Exif block, which is a TIFF structure (TIFF 6.0 section 2): a block with only the
 * orientation, or no bytes if the image is upright or the orientation cannot be read. Returns undefined if the block needs no
 * change, because it contains only the orientation.
 */
export function reduceExif(bytes: Buffer, start: number, end: number): Buffer | undefined {
  if (end - start < HEADER_BYTES) return NO_BYTES;
  const byteOrder = bytes.readUInt32BE(start);
  const isLittle = byteOrder === 0x49492a00;
  if (!isLittle && byteOrder !== 0x4d4d002a) return NO_BYTES;
  const read = (at: number, length: number) => (isLittle ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length));
  const directory = start + read(start + 4, 4);
  if (directory < start + HEADER_BYTES || directory + 2 > end) return NO_BYTES;
  const entriesEnd = Math.min(end, directory + 2 + read(directory, 2) * ENTRY_BYTES);
  for (let at = directory + 2; at + ENTRY_BYTES <= entriesEnd; at += ENTRY_BYTES) {
    if (read(at, 2) !== ORIENTATION || read(at + 4, 4) !== 1) continue;
    const size = integerSizes.get(read(at + 2, 2));
    if (size === undefined) continue;
    const orientation = read(at + 8, size);
    if (orientation < 1 || orientation > 8) continue;
    const minimal = Buffer.alloc(HEADER_BYTES + 2 + ENTRY_BYTES + 4);
    bytes.copy(minimal, 0, start, start + 4);
    // The offset of the first directory, and its number of entries.
    minimal[isLittle ? 4 : 7] = HEADER_BYTES;
    minimal[isLittle ? 8 : 9] = 1;
    bytes.copy(minimal, HEADER_BYTES + 2, at, at + 8 + size);
    if (bytes.subarray(start, end).equals(minimal)) return undefined;
    return orientation === 1 ? NO_BYTES : minimal;
  }
  return NO_BYTES;
}
