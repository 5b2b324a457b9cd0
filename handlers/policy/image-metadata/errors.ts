import type { FieldCode } from '../../http/error-codes.js';

/** The structure of a file is invalid or not supported. The file may contain metadata nevertheless. */
export class UnreadableImageError extends Error {
  readonly code = 'unreadable_image';

  constructor(message: string) {
    super(message);
    this.name = 'UnreadableImageError';
  }
}

/** An image must not be stored. `fieldCode` is the code of the problem to report. */
export class ImageRefusedError extends Error {
  readonly code = 'image_refused';

  constructor(readonly fieldCode: FieldCode) {
    super(fieldCode);
    this.name = 'ImageRefusedError';
  }
}
