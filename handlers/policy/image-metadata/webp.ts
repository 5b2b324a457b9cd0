import { checkDimensions } from './dimensions.js';
import { type Edit, NO_BYTES, removedBytes, Walk } from './edits.js';
import { UnreadableImageError } from './errors.js';
import { findTiff, reduceExif } from './exif.js';

const HEADER_BYTES = 12;
const HEAD_BYTES = 8;
/** The size of a frame's position, size, duration and flags, which precede its chunks. */
const FRAME_HEADER_BYTES = 16;

/** Flags of a VP8X chunk. */
const HAS_EXIF = 0x08;
const HAS_XMP = 0x04;

const keptTypes = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
const keptInFrames = new Set(['VP8 ', 'VP8L', 'ALPH']);

/**
 * Walks a WebP (RFC 9649) chunk by chunk. The file states its size, but the chunks decide where it ends: some programs state a
 * wrong one. Takes an incomplete chunk after the image for the end.
 */
export function walkWebp(bytes: Buffer): Edit[] {
  const walk = new Walk(bytes);
  const statedEnd = Math.min(8 + bytes.readUInt32LE(4), bytes.length);
  checkFirstChunk(bytes);
  const isExtended = typeOf(bytes, HEADER_BYTES) === 'VP8X';
  let hasImage = false;
  let hasExif = false;
  let clearedFlags = HAS_EXIF | HAS_XMP;
  let at = HEADER_BYTES;
  while (at + HEAD_BYTES <= statedEnd) {
    walk.countElement();
    const type = typeOf(bytes, at);
    const end = endOfChunk(bytes, at);
    if (type === 'ANMF') walkFrame(walk, at, end);
    hasImage ||= ['ANMF', 'VP8 ', 'VP8L'].includes(type);
    if (!keptTypes.has(type)) {
      // Without a VP8X chunk, an Exif chunk is removed completely, because readers would not use its orientation.
      const [data, dataEnd] = [at + HEAD_BYTES, Math.min(at + HEAD_BYTES + bytes.readUInt32LE(at + 4), bytes.length)];
      const isExif = type === 'EXIF' && isExtended && findTiff(bytes, data, dataEnd) !== undefined;
      const exif = isExif && !hasExif ? reduceExif(bytes, data, dataEnd) : NO_BYTES;
      // The end of the file may cut the chunk short. The claimed end then counts for the size, as for a chunk that is kept.
      if (exif)
        walk.replace(at, end, exif.length > 0 ? Buffer.concat([Buffer.from(type), u32(exif.length), exif]) : exif);
      if (exif?.length !== 0) clearedFlags = HAS_XMP;
      hasExif ||= isExif;
    }
    at = end;
  }
  if (!hasImage) throw new UnreadableImageError('There is no image');
  const newSize = at - removedBytes(walk.edits) - 8;
  walk.removeStrayBytes(at, bytes.length);
  if (walk.edits.length === 0) return walk.edits;
  walk.replace(4, 8, u32(newSize));
  if (isExtended) {
    const flagsAt = HEADER_BYTES + HEAD_BYTES;
    walk.replace(flagsAt, flagsAt + 1, Buffer.from([bytes.readUInt8(flagsAt) & ~clearedFlags]));
  }
  return walk.edits;
}

const typeOf = (bytes: Buffer, chunk: number) => bytes.toString('latin1', chunk, chunk + 4);

/** Returns the position after a chunk. It is padded to an even length, but the end of the file may replace the padding. */
function endOfChunk(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32LE(at + 4);
  const end = at + HEAD_BYTES + length;
  return end === bytes.length ? end : end + (length % 2);
}

/** Checks the dimensions that the first chunk declares. */
function checkFirstChunk(bytes: Buffer): void {
  const type = typeOf(bytes, HEADER_BYTES);
  const length = bytes.readUInt32LE(HEADER_BYTES + 4);
  const at = HEADER_BYTES + HEAD_BYTES;
  if (type === 'VP8X' && length === 10) {
    checkDimensions(1 + bytes.readUIntLE(at + 4, 3), 1 + bytes.readUIntLE(at + 7, 3));
  } else if (type === 'VP8L' && bytes[at] === 0x2f) {
    const bits = bytes.readUInt32LE(at + 1);
    checkDimensions(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff));
  } else if (type === 'VP8 ' && bytes.readUIntBE(at + 3, 3) === 0x9d012a) {
    checkDimensions(bytes.readUInt16LE(at + 6) & 0x3fff, bytes.readUInt16LE(at + 8) & 0x3fff);
  } else {
    throw new UnreadableImageError('The first chunk is not an image chunk');
  }
}

/** Removes unknown chunks from a frame, and reduces the length that the frame states. */
function walkFrame(walk: Walk, frame: number, frameEnd: number): void {
  const { bytes, edits } = walk;
  const count = edits.length;
  const limit = Math.min(frameEnd, bytes.length);
  let at = frame + HEAD_BYTES + FRAME_HEADER_BYTES;
  while (at + HEAD_BYTES <= limit) {
    walk.countElement();
    const end = Math.min(endOfChunk(bytes, at), limit);
    if (!keptInFrames.has(typeOf(bytes, at))) walk.replace(at, end);
    at = end;
  }
  walk.removeStrayBytes(at, limit);
  const removed = removedBytes(edits.slice(count));
  if (removed > 0) walk.replace(frame + 4, frame + HEAD_BYTES, u32(frameEnd - frame - HEAD_BYTES - removed));
}

/** Returns a 32-bit little-endian integer. */
function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
