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
