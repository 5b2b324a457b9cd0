import { ImageRefusedError } from './errors.js';

/** 16,384 × 16,384, the limit of libavif. */
const MAX_PIXELS = 268_435_456;

/** Throws ImageRefusedError if the dimensions that an image declares are too large. */
export function checkDimensions(width: number, height: number): void {
  if (width * height > MAX_PIXELS) throw new ImageRefusedError('too_many_pixels');
}
