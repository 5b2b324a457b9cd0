/** Thrown if the structure of a file is invalid or unsupported. The file may or may not contain metadata. */
export class UnreadableImageError extends Error {
  readonly code = 'unreadable_image';

  constructor(message: string) {
    super(message);
    this.name = 'UnreadableImageError';
  }
}

/** Thrown if an image must not be stored. The message is sent to the client, after the field's name. */
export class ImageRefusedError extends Error {
  readonly code = 'image_refused';

  constructor(message: string) {
    super(message);
    this.name = 'ImageRefusedError';
  }
}
