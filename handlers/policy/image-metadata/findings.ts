import { setImmediate } from 'node:timers/promises';
import { ImageRefusedError, UnreadableImageError } from './errors.js';

const MAX_SIDE_PIXELS = 16_384;
const MAX_AREA_PIXELS = 100_000_000;

// Pieces are segments, chunks and boxes. Real images have hundreds, long animations thousands, few of them with metadata.
// The limits bound the memory and time that a file of tiny pieces takes.
const MAX_EDITS = 4096;
const MAX_PIECES = 50_000;
/** The number of pieces to parse before the event loop may handle other requests. */
const PIECES_PER_YIELD = 500;

export const NO_BYTES: Buffer = Buffer.alloc(0);

/** Replaces a range by at most as many bytes, padded with `fill` to the old length. Without `fill`, the range shrinks. */
export interface Edit {
  at: number;
  length: number;
  bytes: Buffer;
  fill: number | undefined;
}

/** The results of a walk through an image. After a failed walk, the results so far. */
export class Findings {
  readonly edits: Edit[] = [];
  /** Whether metadata was found. If so, a file that cannot be parsed to its end is refused. */
  hasMetadata = false;
  #pieces = 0;

  /**
   * Counts a piece. Returns a promise to await if it is time to yield to other requests; undefined otherwise.
   *
   * @throws UnreadableImageError if there are too many pieces
   */
  countPiece(): Promise<void> | undefined {
    if (++this.#pieces > MAX_PIECES) throw new UnreadableImageError('The file has too many pieces');
    return this.#pieces % PIECES_PER_YIELD === 0 ? setImmediate() : undefined;
  }

  /**
   * Checks dimensions that the image declares.
   *
   * @throws ImageRefusedError if they are too large
   */
  checkDimensions(width: number, height: number): void {
    if (width <= MAX_SIDE_PIXELS && height <= MAX_SIDE_PIXELS && width * height <= MAX_AREA_PIXELS) return;
    throw new ImageRefusedError('too_many_pixels');
  }

  /** Removes a range, or replaces it by at most as many bytes. */
  replace(at: number, length: number, bytes = NO_BYTES): void {
    const last = this.edits.at(-1);
    if (last && last.fill === undefined && last.at + last.length === at && bytes.length === 0) last.length += length;
    else this.#add({ at, length, bytes, fill: undefined });
  }

  /** Overwrites a range without changing its length, so that offsets to later bytes stay valid. */
  overwrite(at: number, length: number, bytes: Buffer, fill = 0): void {
    this.#add({ at, length, bytes: bytes.subarray(0, length), fill });
  }

  #add(edit: Edit): void {
    if (edit.length === 0) return;
    if (this.edits.length >= MAX_EDITS) throw new UnreadableImageError('The metadata has too many pieces');
    this.edits.push(edit);
  }
}
