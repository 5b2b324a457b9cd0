import { crc32 } from 'node:zlib';
import { UnreadableImageError } from './errors.js';
import { reduceExif } from './exif.js';
import { type Findings, NO_BYTES } from './findings.js';
import { type ImageFile, READ_BUFFER_BYTES } from './image-file.js';
import { removeTrailer } from './trailer.js';

const SIGNATURE_BYTES = 8;
/** The size of a chunk's length, type and checksum together. */
const CHUNK_OVERHEAD_BYTES = 12;

/**
 * The types of ancillary chunks to keep, which affect how pixels are shown. The profile name in `iCCP` is not removed,
 * because the profile contains it too. `mDCv` and `cLLi` are the spellings of earlier drafts. The last line has ImageMagick's
 * chunks for orientation and canvas.
 */
const keptTypes = new Set([
  ...['iCCP', 'sRGB', 'gAMA', 'cHRM', 'cICP', 'mDCV', 'cLLI', 'mDCv', 'cLLi'],
  ...['pHYs', 'bKGD', 'tRNS', 'sBIT', 'hIST', 'sPLT', 'oFFs', 'sTER'],
  ...['acTL', 'fcTL', 'fdAT'],
  ...['orNT', 'caNv', 'vpAg'],
]);

/** Walks a PNG (W3C PNG, third edition) or APNG chunk by chunk. Keeps all critical chunks. */
export async function walkPng(file: ImageFile, findings: Findings): Promise<void> {
  for (let at = SIGNATURE_BYTES; ; ) {
    await findings.countElement();
    const head = await file.read(at, 8);
    const dataLength = head.readUInt32BE(0);
    const type = head.toString('latin1', 4, 8);
    const end = at + CHUNK_OVERHEAD_BYTES + dataLength;
    if ((at === SIGNATURE_BYTES) !== (type === 'IHDR')) throw new UnreadableImageError('IHDR is not the first chunk');
    if (end > file.size) {
      // Accepted, because readers show an image with truncated pixel data as far as possible.
      if (type === 'IDAT' || type === 'fdAT') return;
      findings.hasMetadata ||= isRemovable(head, type);
      throw new UnreadableImageError('A chunk has an invalid length');
    }
    if (type === 'IHDR') {
      if (dataLength !== 13) throw new UnreadableImageError('IHDR has an invalid length');
      const header = await file.read(at + 8, 13);
      findings.checkDimensions(header.readUInt32BE(0), header.readUInt32BE(4));
    } else if (type === 'IEND') {
      return removeTrailer(file, end, findings);
    } else if (isRemovable(head, type)) {
      const replacement = type === 'eXIf' ? await reduceExifChunk(file, at, dataLength) : NO_BYTES;
      findings.hasMetadata ||= replacement !== undefined;
      if (replacement) findings.replace(at, end - at, replacement);
    }
    at = end;
  }
}

/** Returns whether to remove or reduce a chunk: it is ancillary (bit 5 of its type's first letter), and not in `keptTypes`. */
const isRemovable = (head: Buffer, type: string) => ((head[4] as number) & 0x20) !== 0 && !keptTypes.has(type);

/** Returns the replacement for an `eXIf` chunk: no bytes to remove it, or undefined if it needs no change. */
async function reduceExifChunk(file: ImageFile, at: number, dataLength: number): Promise<Buffer | undefined> {
  const tiff = reduceExif(await file.read(at + 8, Math.min(dataLength, READ_BUFFER_BYTES)), dataLength);
  if (!tiff || tiff.length === 0) return tiff;
  const chunk = Buffer.alloc(CHUNK_OVERHEAD_BYTES + tiff.length);
  chunk.writeUInt32BE(tiff.length, 0);
  chunk.write('eXIf', 4, 'latin1');
  tiff.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + tiff.length)), 8 + tiff.length);
  return chunk;
}
