/** Thrown when a file does not have the structure of its format. It says nothing about the file's metadata. */
export class UnreadableImageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableImageError';
  }
}

/** Thrown when an image must not be stored. The message is for the client, to follow the field's name. */
export class ImageRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImageRefusedError';
  }
}
