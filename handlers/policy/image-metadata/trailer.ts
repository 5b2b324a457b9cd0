import type { Findings } from './findings.js';
import { type ImageFile, READ_BUFFER_BYTES } from './image-file.js';

const ZEROS = Buffer.alloc(READ_BUFFER_BYTES);

/** Adds an edit that removes the bytes after the image, which ends at `start`. Adds none if all are zeros: they are padding. */
export async function removeTrailer(file: ImageFile, start: number, findings: Findings): Promise<void> {
  for (let at = start; at < file.size; ) {
    const bytes = await file.readAvailable(at);
    if (!bytes.equals(ZEROS.subarray(0, bytes.length))) {
      findings.replace(start, file.size - start);
      return;
    }
    at += bytes.length;
  }
}
