import { setImmediate } from 'node:timers/promises';
import { ImageRefusedError, UnreadableImageError } from './errors.js';

const SIDE_MAX_PIXELS = 16_384;
const AREA_MAX_PIXELS = 100_000_000;

// Real images have a few pieces of metadata, and hundreds of pieces in all; long animations have thousands. These bound the
// memory and the time that a file of tiny pieces takes.
const MAX_EDITS = 4096;
const MAX_PIECES = 50_000;
/** After so many pieces other requests get their turn. */
const PIECES_PER_TURN = 500;

export const NO_BYTES: Buffer = Buffer.alloc(0);

/** A range of the file that is replaced by `bytes`, then by `fill` up to its old length; without `fill` it shrinks. */
export interface Edit {
  at: number;
  length: number;
  bytes: Buffer;
  fill: number | undefined;
}

/** What a walk through an image has found so far. A walk that fails leaves what it found before. */
export class Findings {
  readonly edits: Edit[] = [];
  /** Whether there was metadata; counts when the rest of the file cannot be followed. */
  hasMetadata = false;
  #pieces = 0;

  /**
   * Counts a segment, chunk or box that a walk has come to. Returns a promise to wait for when it is time to let other
   * requests run.
   *
   * @throws UnreadableImageError when there are too many
   */
  countPiece(): Promise<void> | undefined {
    if (++this.#pieces > MAX_PIECES) throw new UnreadableImageError('The file is in too many pieces.');
    return this.#pieces % PIECES_PER_TURN === 0 ? setImmediate() : undefined;
  }

  /**
   * Checks dimensions that the image declares.
   *
   * @throws ImageRefusedError
   */
  checkDimensions(width: number, height: number): void {
    if (width <= SIDE_MAX_PIXELS && height <= SIDE_MAX_PIXELS && width * height <= AREA_MAX_PIXELS) return;
    throw new ImageRefusedError('must be at most 16,384 pixels on each side and 100,000,000 pixels in total');
  }

  /** Takes out a range, or puts other bytes in its place, never more than it had. */
  replace(at: number, length: number, bytes = NO_BYTES): void {
    const last = this.edits.at(-1);
    if (last && last.fill === undefined && last.at + last.length === at && bytes.length === 0) last.length += length;
    else this.#add({ at, length, bytes, fill: undefined });
  }

  /** Overwrites a range and keeps its length, so that offsets to what follows stay right. */
  overwrite(at: number, length: number, bytes: Buffer, fill = 0): void {
    this.#add({ at, length, bytes: bytes.subarray(0, length), fill });
  }

  #add(edit: Edit): void {
    if (edit.length === 0) return;
    if (this.edits.length >= MAX_EDITS) throw new UnreadableImageError('The metadata is in too many pieces.');
    this.edits.push(edit);
  }
}
