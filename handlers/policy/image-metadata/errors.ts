import { FIELD_MESSAGES, type FieldCode } from '../../error-codes.js';

/** The structure of a file is invalid or not supported. The file may contain metadata nevertheless. */
export class UnreadableImageError extends Error {
  readonly code = 'unreadable_image';

  constructor(message: string) {
    super(message);
    this.name = 'UnreadableImageError';
  }
}

/** An image must not be stored. `fieldCode` and the message are those of the problem to report. */
export class ImageRefusedError extends Error {
  readonly code = 'image_refused';

  constructor(
    readonly fieldCode: FieldCode,
    message: string = FIELD_MESSAGES[fieldCode],
  ) {
    super(message);
    this.name = 'ImageRefusedError';
  }
}
