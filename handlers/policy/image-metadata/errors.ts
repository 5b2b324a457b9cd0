import { FIELD_MESSAGES, type FieldCode } from '../../error-codes.js';

/** The structure of a file is invalid or not supported. */
export class UnreadableImageError extends Error {
  override readonly name = 'UnreadableImageError';
  readonly code = 'unreadable_image';

  /** @param hasMetadata true if the file is known to contain metadata, undefined if unknown */
  constructor(
    message: string,
    readonly hasMetadata?: boolean,
  ) {
    super(message);
  }
}

/** An image must not be stored. `fieldCode` and the message are those of the problem to report. */
export class ImageRefusedError extends Error {
  override readonly name = 'ImageRefusedError';
  readonly code = 'image_refused';

  constructor(
    readonly fieldCode: FieldCode,
    message: string = FIELD_MESSAGES[fieldCode],
  ) {
    super(message);
  }
}

/** 16,384 × 16,384, the limit of libavif. */
const MAX_PIXELS = 268_435_456;

/** Throws ImageRefusedError if the dimensions that an image declares are too large. */
export function checkDimensions(width: number, height: number): void {
  if (width * height > MAX_PIXELS) throw new ImageRefusedError('too_many_pixels');
}
