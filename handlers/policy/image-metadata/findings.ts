import { setImmediate } from 'node:timers/promises';
import { ImageRefusedError, UnreadableImageError } from './errors.js';

const MAX_SIDE_PIXELS = 16_384;
const MAX_AREA_PIXELS = 100_000_000;

// An element is a structural unit of a file: a segment, chunk, block or box. Images have hundreds of elements, long
// animations thousands, and few elements contain metadata. These limits bound the memory and time for a file that consists
// of tiny elements.
const MAX_EDITS = 4096;
const MAX_ELEMENTS = 50_000;

/** The number of elements to parse before the event loop can handle other requests. */
const ELEMENTS_PER_YIELD = 500;

export const NO_BYTES: Buffer = Buffer.alloc(0);

/** Replaces a range of the file with `bytes`, which are never longer than the range. */
export interface Edit {
  /** The offset of the range in the file. */
  at: number;
  /** The length of the range. */
  length: number;
  bytes: Buffer;
  /** The byte with which `bytes` are padded to `length`. If undefined, the range becomes shorter. */
  fill: number | undefined;
}

/** What a walk through an image has found so far. */
export class Findings {
  readonly edits: Edit[] = [];
  /** Whether metadata was found. If it was, and the file cannot be parsed to its end, the image is refused. */
  hasMetadata = false;
  #elements = 0;

  /**
   * Counts an element. Returns a promise only if the event loop should first handle other requests, because a promise for each
   * element would be slow.
   *
   * @throws UnreadableImageError if there are too many elements
   */
  countElement(): Promise<void> | undefined {
    if (++this.#elements > MAX_ELEMENTS) throw new UnreadableImageError('The file has too many elements');
    return this.#elements % ELEMENTS_PER_YIELD === 0 ? setImmediate() : undefined;
  }

  /**
   * Checks the dimensions that an image declares.
   *
   * @throws ImageRefusedError if they are too large
   */
  checkDimensions(width: number, height: number): void {
    if (width <= MAX_SIDE_PIXELS && height <= MAX_SIDE_PIXELS && width * height <= MAX_AREA_PIXELS) return;
    throw new ImageRefusedError('too_many_pixels');
  }

  /**
   * Adds an edit that removes a range, or replaces it with `bytes`, which must not be longer than the range. The removal of a
   * range directly after the previous one is merged into the previous edit, so that adjacent elements count as one edit.
   */
  replace(at: number, length: number, bytes = NO_BYTES): void {
    const last = this.edits.at(-1);
    if (last && last.fill === undefined && last.at + last.length === at && bytes.length === 0) last.length += length;
    else this.#add({ at, length, bytes, fill: undefined });
  }

  /**
   * Adds an edit that overwrites a range with `bytes`, cut or padded to the length of the range, so that the offsets of later
   * bytes do not change.
   */
  overwrite(at: number, length: number, bytes: Buffer, fill = 0): void {
    this.#add({ at, length, bytes: bytes.subarray(0, length), fill });
  }

  #add(edit: Edit): void {
    if (edit.length === 0) return;
    if (this.edits.length >= MAX_EDITS) throw new UnreadableImageError('The metadata has too many elements');
    this.edits.push(edit);
  }
}
