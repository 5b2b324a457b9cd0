import { randomBytes } from 'node:crypto';
import { PNG_SIGNATURE, pngChunk, pngHeader } from '../support/png.js';

/** Returns a PNG of this size. Its pixel data is random, because it must not compress and is never decoded. */
export function createImage(bytes: number): Buffer {
  const start = Buffer.concat([PNG_SIGNATURE, pngHeader(1024, 1024)]);
  const end = pngChunk('IEND', '');
  // Besides its data, every chunk has as many bytes as the empty chunk at the end.
  return Buffer.concat([start, pngChunk('IDAT', randomBytes(bytes - start.length - 2 * end.length)), end]);
}
