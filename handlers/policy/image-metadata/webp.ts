import { UnreadableImageError } from './errors.js';
import { EXIF_PREFIX, reduceExif } from './exif.js';
import { type Findings, NO_BYTES } from './findings.js';
import { type ImageFile, READ_BUFFER_BYTES } from './image-file.js';
import { removeTrailer } from './trailer.js';

const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** The size of a frame's position, size, duration and flags, which precede its chunks. */
const FRAME_HEADER_BYTES = 16;

/** Flags of a VP8X chunk. */
const HAS_EXIF = 0x08;
const HAS_XMP = 0x04;

const keptTypes = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
const frameTypes = new Set(['VP8 ', 'VP8L', 'ALPH']);

interface Chunk {
  type: string;
  at: number;
  dataAt: number;
  dataLength: number;
  end: number;
}

/** Walks a WebP (RFC 9649) chunk by chunk. */
export async function walkWebp(file: ImageFile, findings: Findings): Promise<void> {
  const riffEnd = 8 + (await file.read(4, 4)).readUInt32LE(0);
  if (riffEnd > file.size || riffEnd < HEADER_BYTES + CHUNK_HEADER_BYTES) {
    throw new UnreadableImageError('RIFF has an invalid length');
  }
  let flags: number | undefined;
  let hasExif = false;
  let hasChanges = false;
  let newRiffEnd = riffEnd;
  for (let at = HEADER_BYTES; at < riffEnd; ) {
    await findings.countElement();
    const chunk = await readChunk(file, at, riffEnd);
    if (at === HEADER_BYTES) await checkDimensions(file, chunk, findings);
    if (at === HEADER_BYTES && chunk.type === 'VP8X') flags = (await file.read(chunk.dataAt, 1))[0];
    if (chunk.type === 'ANMF') await blankUnknownChunks(file, chunk, findings);
    if (!keptTypes.has(chunk.type)) {
      // Without a VP8X chunk, an Exif chunk is removed completely, because readers would not use its orientation.
      const replacement = chunk.type === 'EXIF' && flags !== undefined ? await reduceExifChunk(file, chunk) : NO_BYTES;
      // An Exif chunk remains if it is reduced, or needs no change.
      hasExif ||= replacement === undefined || replacement.length > 0;
      if (replacement) {
        findings.hasMetadata = true;
        hasChanges = true;
        findings.replace(at, chunk.end - at, replacement);
        newRiffEnd -= chunk.end - at - replacement.length;
      }
    }
    at = chunk.end;
  }
  await removeTrailer(file, riffEnd, findings);
  if (!hasChanges) return;
  findings.overwrite(4, 4, u32(newRiffEnd - 8));
  if (flags === undefined) return;
  const newFlags = (flags & ~(HAS_EXIF | HAS_XMP)) | (hasExif ? HAS_EXIF : 0);
  findings.overwrite(HEADER_BYTES + CHUNK_HEADER_BYTES, 1, Buffer.from([newFlags]));
}

async function readChunk(file: ImageFile, at: number, parentEnd: number): Promise<Chunk> {
  const head = await file.read(at, CHUNK_HEADER_BYTES);
  const dataAt = at + CHUNK_HEADER_BYTES;
  const dataLength = head.readUInt32LE(4);
  if (dataAt + dataLength > parentEnd) throw new UnreadableImageError('A chunk has an invalid length');
  // Chunks are padded to an even length. The padding byte of the last chunk may be missing.
  const end = Math.min(dataAt + dataLength + (dataLength % 2), parentEnd);
  return { type: head.toString('latin1', 0, 4), at, dataAt, dataLength, end };
}

/** Checks the dimensions that the first chunk declares. */
async function checkDimensions(file: ImageFile, { type, dataAt, dataLength }: Chunk, findings: Findings) {
  const data = await file.read(dataAt, Math.min(dataLength, 10));
  if (type === 'VP8X' && dataLength === 10) {
    findings.checkDimensions(1 + data.readUIntLE(4, 3), 1 + data.readUIntLE(7, 3));
  } else if (type === 'VP8L' && dataLength > 4 && data[0] === 0x2f) {
    const bits = data.readUInt32LE(1);
    findings.checkDimensions(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff));
  } else if (type === 'VP8 ' && dataLength >= 10 && data.readUIntBE(3, 3) === 0x9d012a) {
    findings.checkDimensions(data.readUInt16LE(6) & 0x3fff, data.readUInt16LE(8) & 0x3fff);
  } else {
    throw new UnreadableImageError('The first chunk is not an image chunk');
  }
}

/** Returns the replacement for an `EXIF` chunk: empty if the chunk must be removed, undefined if it needs no change. */
async function reduceExifChunk(file: ImageFile, { dataAt, dataLength }: Chunk): Promise<Buffer | undefined> {
  const data = await file.read(dataAt, Math.min(dataLength, READ_BUFFER_BYTES));
  // Some programs add the prefix that only JPEG requires.
  const start = data.subarray(0, EXIF_PREFIX.length).equals(EXIF_PREFIX) ? EXIF_PREFIX.length : 0;
  const reduced = reduceExif(data.subarray(start), dataLength - start);
  // If the TIFF is already reduced, a new chunk is needed only to remove the prefix.
  const tiff = reduced === undefined && start > 0 ? data.subarray(start, dataLength) : reduced;
  if (!tiff || tiff.length === 0) return tiff;
  return Buffer.concat([Buffer.from('EXIF'), u32(tiff.length), tiff]);
}

/** Overwrites unknown chunks in a frame. They are not removed, because that would change the length of the frame. */
async function blankUnknownChunks(file: ImageFile, frame: Chunk, findings: Findings): Promise<void> {
  const frameEnd = frame.dataAt + frame.dataLength;
  for (let at = frame.dataAt + FRAME_HEADER_BYTES; at < frameEnd; ) {
    await findings.countElement();
    const chunk = await readChunk(file, at, frameEnd);
    if (!frameTypes.has(chunk.type)) {
      const data = await file.read(chunk.dataAt, Math.min(chunk.dataLength, READ_BUFFER_BYTES));
      findings.hasMetadata ||= data.some((byte) => byte !== 0);
      findings.overwrite(chunk.dataAt, chunk.end - chunk.dataAt, NO_BYTES);
    }
    at = chunk.end;
  }
}

/** Returns a 32-bit little-endian integer. */
function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
