import type { FieldCode } from '../../http/error-codes.js';

/** Thrown if the structure of a file is invalid or unsupported. The file may or may not contain metadata. */
export class UnreadableImageError extends Error {
  readonly code = 'unreadable_image';

  constructor(message: string) {
    super(message);
    this.name = 'UnreadableImageError';
  }
}

/** Thrown if an image must not be stored. `fieldCode` is the code of the problem to report. */
export class ImageRefusedError extends Error {
  readonly code = 'image_refused';

  constructor(readonly fieldCode: FieldCode) {
    super(fieldCode);
    this.name = 'ImageRefusedError';
  }
}
