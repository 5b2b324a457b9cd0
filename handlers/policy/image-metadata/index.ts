import { readFile, writeFile } from 'node:fs/promises';
import { BoundedQueue } from '../../../db/support/bounded-queue.js';
import { walkAvif } from './avif.js';
import { applyEdits, type Edit } from './edits.js';
import { ImageRefusedError, UnreadableImageError } from './errors.js';
import { walkGif } from './gif.js';
import { walkJpeg } from './jpeg.js';
import { seemsToContainMetadata } from './metadata-search.js';
import { walkPng } from './png.js';
import { walkWebp } from './webp.js';

/*
 * Removes metadata that may identify people or places from images, without decoding or changing their pixels.
 *
 * For each format there is a walker: a function that follows the structure of a file as decoders do, checks the declared
 * dimensions, and returns edits, which remove or replace ranges of bytes. It takes a few milliseconds for a file of 5 MiB,
 * whatever the file contains.
 *
 * The elements that may contain metadata are the application, comment and reserved segments of a JPEG, the chunks of a PNG or
 * WebP, the extensions of a GIF, and the top-level boxes of an AVIF. Of these, walkers keep only the types on a list. Inside
 * AVIF boxes, only known metadata is removed.
 *
 * No library was found that supports more than one or two of these formats without re-encoding.
 */

/** Returns the edits that remove the metadata of an image. @throws UnreadableImageError, ImageRefusedError */
type Walker = (bytes: Buffer) => Edit[];

const walkers: Readonly<Record<string, Walker>> = {
  'image/jpeg': walkJpeg,
  'image/png': walkPng,
  'image/gif': walkGif,
  'image/webp': walkWebp,
  'image/avif': walkAvif,
};

/** Bounds the memory for images: each is in memory once, and once more if it is changed. */
const queue = new BoundedQueue({ maxRunning: 4, maxWaiting: 1000, maxWaitMs: 3000 });

/**
 * Checks the dimensions of an uploaded image and, if `stripMetadata` is true, removes its metadata in place. Does not change an
 * image that has no metadata, or whose structure cannot be followed.
 *
 * @returns the new size in bytes
 * @throws ImageRefusedError if the declared dimensions are too large, or if `stripMetadata` is true and the image seems to
 *   contain metadata but its structure cannot be followed
 * @throws OverloadedError
 */
export function cleanImage(
  { path, size, mediaType }: { path: string; size: number; mediaType: string },
  { stripMetadata }: { stripMetadata: boolean },
): Promise<number> {
  const walk = walkers[mediaType];
  if (!walk) throw new TypeError(`Unsupported image type: ${mediaType}`);
  return queue.run({}, async () => {
    const bytes = await readFile(path);
    try {
      const edits = walk(bytes);
      if (!stripMetadata || edits.length === 0) return size;
      const cleaned = applyEdits(bytes, edits);
      if (cleaned.equals(bytes)) return size;
      await writeFile(path, cleaned);
      return cleaned.length;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      if (stripMetadata && (error.hasMetadata || (await seemsToContainMetadata(bytes, mediaType)))) {
        throw new ImageRefusedError('damaged_image');
      }
      return size;
    }
  });
}

/** Returns whether a walker cannot follow the structure of a file. A RangeError means that the file is too short for it. */
const isUnreadable = (error: unknown): error is UnreadableImageError | (RangeError & { hasMetadata?: never }) =>
  error instanceof UnreadableImageError ||
  (error instanceof RangeError && 'code' in error && error.code === 'ERR_OUT_OF_RANGE');
