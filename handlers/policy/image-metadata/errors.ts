/** The file is not structured as its format requires. Whether it contains metadata is unknown. */
export class UnreadableImageError extends Error {
  readonly code = 'unreadable_image';

  constructor(message: string) {
    super(message);
    this.name = 'UnreadableImageError';
  }
}

/** The image must not be stored. The message is sent to the client and follows the field's name. */
export class ImageRefusedError extends Error {
  readonly code = 'image_refused';

  constructor(message: string) {
    super(message);
    this.name = 'ImageRefusedError';
  }
}
