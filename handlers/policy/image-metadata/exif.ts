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

/** A TIFF structure without entries. */
export const EMPTY_TIFF = Buffer.from('MM\0*\0\0\0\x08\0\0\0\0\0\0', 'latin1');

/** The number of bytes that precede the TIFF header in a JPEG, and sometimes in other formats: "Exif\0" and a fill byte. */
export const PREFIX_BYTES = 6;

/**
 * Returns the position of the TIFF header of an Exif block, or undefined if it has none. Decoders use the first block with a
 * header, so a later one must not take effect when the first one is removed.
 */
export function findTiff(bytes: Buffer, block: number, end: number): number | undefined {
  const at = bytes.toString('latin1', block, block + 5) === 'Exif\0' ? block + PREFIX_BYTES : block;
  return ['II*\0', 'MM\0*'].includes(bytes.toString('latin1', at, Math.min(at + 4, end))) ? at : undefined;
}

/**
 * Returns the replacement for an Exif block, which is a TIFF structure (TIFF 6.0 section 2): a block with only the
 * orientation, or no bytes if the image is upright or the orientation cannot be read. Returns undefined if the block needs no
 * change, because it contains only the orientation. Keeps the prefix: some programs need it, others ignore a block with it.
 */
export function reduceExif(bytes: Buffer, block: number, end: number): Buffer | undefined {
  const start = findTiff(bytes, block, end);
  if (start === undefined || end - start < HEADER_BYTES) return NO_BYTES;
  const isLittle = bytes[start] === 0x49;
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
    const reduced = Buffer.concat([bytes.subarray(block, start), minimal]);
    if (bytes.subarray(block, end).equals(reduced)) return undefined;
    return orientation === 1 ? NO_BYTES : reduced;
  }
  return NO_BYTES;
}
