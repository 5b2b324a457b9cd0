import { crc32 } from 'node:zlib';
import { checkDimensions } from './dimensions.js';
import { type Edit, NO_BYTES, Walk } from './edits.js';
import { UnreadableImageError } from './errors.js';
import { findTiff, reduceExif } from './exif.js';

const SIGNATURE_BYTES = 8;
const HEAD_BYTES = 8;
const CRC_BYTES = 4;

/**
 * The types of chunks to keep, which affect how pixels are shown. The profile name in `iCCP` is not removed, because the
 * profile contains it too. `mDCv` and `cLLi` are the spellings of earlier drafts. The last line has ImageMagick's chunks for
 * orientation and canvas.
 */
const keptTypes = new Set([
  ...['IHDR', 'PLTE', 'IDAT'],
  ...['iCCP', 'sRGB', 'gAMA', 'cHRM', 'cICP', 'mDCV', 'cLLI', 'mDCv', 'cLLi'],
  ...['pHYs', 'bKGD', 'tRNS', 'sBIT', 'hIST', 'sPLT', 'oFFs', 'sTER'],
  ...['acTL', 'fcTL', 'fdAT'],
  ...['orNT', 'caNv', 'vpAg'],
]);

const END_CHUNK = createChunk('IEND', Buffer.alloc(0));

/**
 * Walks a PNG (W3C PNG, third edition) or APNG chunk by chunk. As for decoders, pixel data is an image even if its end is
 * missing, and an invalid chunk after it is the end.
 */
export function walkPng(bytes: Buffer): Edit[] {
  const walk = new Walk(bytes);
  const header = SIGNATURE_BYTES + HEAD_BYTES;
  if (bytes.toString('latin1', header - 4, header) !== 'IHDR')
    throw new UnreadableImageError('IHDR is not the first chunk');
  checkDimensions(bytes.readUInt32BE(header), bytes.readUInt32BE(header + 4));
  let hasData = false;
  let hasExif = false;
  for (let at = SIGNATURE_BYTES; at + HEAD_BYTES <= bytes.length; ) {
    walk.countElement();
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at + HEAD_BYTES + bytes.readUInt32BE(at) + CRC_BYTES;
    hasData ||= type === 'IDAT';
    if (type === 'IEND' && hasData) {
      walk.removeStrayBytes(end, bytes.length);
      break;
    }
    if (end > bytes.length || !/^[A-Za-z]{4}$/.test(type)) {
      if (!keptTypes.has(type)) walk.removeStrayBytes(at, bytes.length, END_CHUNK);
      break;
    }
    if (!keptTypes.has(type)) {
      const [data, dataEnd] = [at + HEAD_BYTES, end - CRC_BYTES];
      const isExif = type === 'eXIf' && findTiff(bytes, data, dataEnd) !== undefined;
      const exif = isExif && !hasExif ? reduceExif(bytes, data, dataEnd) : NO_BYTES;
      if (exif) walk.replace(at, end, exif.length > 0 ? createChunk('eXIf', exif) : NO_BYTES);
      hasExif ||= isExif;
    }
    at = end;
  }
  if (!hasData) throw new UnreadableImageError('There is no image');
  return walk.edits;
}

function createChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(HEAD_BYTES + data.length + CRC_BYTES);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, HEAD_BYTES);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, HEAD_BYTES + data.length)), HEAD_BYTES + data.length);
  return chunk;
}
