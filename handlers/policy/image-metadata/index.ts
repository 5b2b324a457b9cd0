import { open } from 'node:fs/promises';
import { applyEdits } from './apply-edits.js';
import { walkAvif } from './avif.js';
import { ImageRefusedError, UnreadableImageError } from './errors.js';
import { type Edit, Findings } from './findings.js';
import { walkGif } from './gif.js';
import { ImageFile } from './image-file.js';
import { walkJpeg } from './jpeg.js';
import { seemsToContainMetadata } from './metadata-search.js';
import { walkPng } from './png.js';
import { walkWebp } from './webp.js';

/*
 * Removes metadata that may identify people or places from images, without decoding or changing their pixels.
 *
 * For each format there is a walker. It parses the structure of the file, checks the declared dimensions, and collects
 * edits: ranges to remove or overwrite. The edits are then applied to the file in place. Files are read through a buffer of
 * fixed size.
 *
 * The elements that may contain metadata are the application, comment and reserved segments of a JPEG, the ancillary chunks of
 * a PNG, the extensions of a GIF, the chunks of a WebP, and the top-level boxes of an AVIF. Of these, walkers keep only the
 * types on a list. Inside AVIF boxes, only known metadata is removed.
 *
 * No library was found that supports more than one or two of these formats without holding the whole image in memory.
 */

/** Walks through a file and adds what it finds to `findings`. @throws UnreadableImageError, ImageRefusedError */
type Walk = (file: ImageFile, findings: Findings) => Promise<void>;

const walks: Readonly<Record<string, Walk>> = {
  'image/jpeg': walkJpeg,
  'image/png': walkPng,
  'image/gif': walkGif,
  'image/webp': walkWebp,
  'image/avif': walkAvif,
};

/**
 * Checks the dimensions of an uploaded image and, if `stripMetadata` is true, removes its metadata in place. Does not change an
 * image that has no metadata or cannot be parsed.
 *
 * @returns the new size in bytes
 * @throws ImageRefusedError if the declared dimensions are too large, or if `stripMetadata` is true and the image seems to
 *   contain metadata but cannot be parsed
 */
export async function cleanImage(
  image: { path: string; size: number; mediaType: string },
  options: { stripMetadata: boolean },
): Promise<number> {
  const walk = walks[image.mediaType];
  if (!walk) throw new TypeError(`Unsupported image type: ${image.mediaType}`);
  const handle = await open(image.path, options.stripMetadata ? 'r+' : 'r');
  try {
    const file = new ImageFile(handle, image.size);
    const findings = new Findings();
    try {
      await walk(file, findings);
      if (!options.stripMetadata || findings.edits.length === 0) return image.size;
      return await applyEdits(handle, image.size, sortEdits(findings.edits));
    } catch (error) {
      if (!(error instanceof UnreadableImageError)) throw error;
      if (options.stripMetadata && (findings.hasMetadata || (await seemsToContainMetadata(file, image.mediaType)))) {
        throw new ImageRefusedError('damaged_image');
      }
      return image.size;
    }
  } finally {
    await handle.close();
  }
}

/**
 * Returns the edits sorted by position. Omits duplicates, which occur if an AVIF contains an image and a sequence that share
 * metadata.
 *
 * @throws UnreadableImageError if edits overlap
 */
function sortEdits(edits: readonly Edit[]): Edit[] {
  const sorted: Edit[] = [];
  for (const edit of edits.toSorted((one, other) => one.at - other.at)) {
    const previous = sorted.at(-1);
    if (previous && previous.at === edit.at && previous.length === edit.length && previous.bytes.equals(edit.bytes))
      continue;
    if (previous && previous.at + previous.length > edit.at) throw new UnreadableImageError('Two edits overlap');
    sorted.push(edit);
  }
  return sorted;
}
