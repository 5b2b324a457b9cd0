import type { Findings } from './findings.js';
import { CHUNK_BYTES, type ImageFile } from './image-file.js';

const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** Takes out what follows the end of the image, unless it is padding of zeros, which tells nothing. */
export async function removeTrailer(file: ImageFile, start: number, findings: Findings): Promise<void> {
  for (let at = start; at < file.size; ) {
    const bytes = await file.readOn(at);
    if (!bytes.equals(ZEROS.subarray(0, bytes.length))) {
      findings.replace(start, file.size - start);
      return;
    }
    at += bytes.length;
  }
}
