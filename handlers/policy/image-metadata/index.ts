/**
 * Removes metadata that identifies people or places from images, without touching the coded pixels.
 *
 * A walker per format follows the file's structure, checks the dimensions that it declares and notes edits: ranges to take
 * out or to overwrite. They are then applied to the file in place. A file is only ever read in chunks of fixed size. What
 * is to be kept is listed, so that unknown pieces go; no library did this for more than one or two formats, or without
 * holding the whole image in memory.
 */

import { open } from 'node:fs/promises';
import { applyEdits } from './apply-edits.js';
import { walkAvif } from './avif.js';
import { ImageRefusedError, UnreadableImageError } from './errors.js';
import { type Edit, Findings } from './findings.js';
import { walkGif } from './gif.js';
import { ImageFile } from './image-file.js';
import { walkJpeg } from './jpeg.js';
import { hasMetadataMarkers } from './markers.js';
import { walkPng } from './png.js';
import { walkWebp } from './webp.js';

export { ImageRefusedError } from './errors.js';

type Walk = (file: ImageFile, findings: Findings) => Promise<void>;

const walks: Readonly<Record<string, Walk>> = {
  'image/jpeg': walkJpeg,
  'image/png': walkPng,
  'image/gif': walkGif,
  'image/webp': walkWebp,
  'image/avif': walkAvif,
};

/**
 * Checks an image that was uploaded and, if asked to, removes its metadata in place. An image without metadata is not
 * changed, and neither is one whose structure cannot be followed.
 *
 * @returns the file's size afterwards
 * @throws ImageRefusedError when the image declares to be too large, or holds metadata but cannot be followed
 */
export async function cleanImage(
  image: { path: string; size: number; mediaType: string },
  options: { stripMetadata: boolean },
): Promise<number> {
  const walk = walks[image.mediaType];
  if (!walk) throw new TypeError(`There is no walker for ${image.mediaType}.`);
  const handle = await open(image.path, options.stripMetadata ? 'r+' : 'r');
  try {
    const file = new ImageFile(handle, image.size);
    const findings = new Findings();
    try {
      await walk(file, findings);
      if (!options.stripMetadata || findings.edits.length === 0) return image.size;
      return await applyEdits(handle, image.size, inOrder(findings.edits));
    } catch (error) {
      if (!(error instanceof UnreadableImageError)) throw error;
      if (options.stripMetadata && (findings.hasMetadata || (await hasMetadataMarkers(file, image.mediaType)))) {
        throw new ImageRefusedError(
          'contains metadata that cannot be removed, because the structure of the file cannot be followed',
        );
      }
      return image.size;
    }
  } finally {
    await handle.close();
  }
}

/**
 * Sorts the edits. An image and a sequence in one file may share metadata, so the same edit may be there twice.
 *
 * @throws UnreadableImageError when pieces of the file overlap
 */
function inOrder(edits: readonly Edit[]): Edit[] {
  const sorted: Edit[] = [];
  for (const edit of edits.toSorted((one, other) => one.at - other.at)) {
    const previous = sorted.at(-1);
    if (previous && previous.at === edit.at && previous.length === edit.length && previous.bytes.equals(edit.bytes))
      continue;
    if (previous && previous.at + previous.length > edit.at)
      throw new UnreadableImageError('Pieces of the file overlap.');
    sorted.push(edit);
  }
  return sorted;
}
