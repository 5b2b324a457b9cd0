import { randomBytes } from 'node:crypto';
import { PNG_SIGNATURE, pngChunk, pngHeader } from '../support/png.js';

const IMAGE_BYTES = 100 * 1024;

const start = Buffer.concat([PNG_SIGNATURE, pngHeader(1024, 1024)]);
const end = pngChunk('IEND', '');
// Besides its data, every chunk has as many bytes as the empty chunk at the end.
const pixels = randomBytes(IMAGE_BYTES - start.length - 2 * end.length);

/** A PNG of 100 KiB, like a photo for the web. Its pixel data is random, because it must not compress and is never decoded. */
export const IMAGE = Buffer.concat([start, pngChunk('IDAT', pixels), end]);
