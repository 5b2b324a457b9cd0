import { randomBytes } from 'node:crypto';
import { PNG_SIGNATURE, pngChunk, pngHeader } from '../support/png.js';
import { formOf, pngBlob } from '../support/request.js';

const IMAGE_BYTES = 256 * 1024;

const start = Buffer.concat([PNG_SIGNATURE, pngHeader(1024, 1024)]);
const end = pngChunk('IEND', '');
// Besides its data, every chunk has as many bytes as the empty chunk at the end.
const pixels = randomBytes(IMAGE_BYTES - start.length - 2 * end.length);

/** A PNG of 256 KiB, like a photo for the web. Its pixel data is random, because it must not compress and is never decoded. */
export const IMAGE = Buffer.concat([start, pngChunk('IDAT', pixels), end]);

/** Returns the form that creates a post with this image. */
export const uploadForm = () => formOf({ title: 'A photo', text: 'Created by the benchmark.', image: pngBlob(IMAGE) });
