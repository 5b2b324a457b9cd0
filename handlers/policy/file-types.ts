import { canonicalMediaType, imageTypes } from './image-types.js';

/**
 * Returns what a file is by its first bytes, such as "a HEIC image" or "a PDF file"; undefined when they do not tell. For
 * messages only: `detectImageType` decides what is accepted.
 */
export async function describeFileType(head: Uint8Array): Promise<string | undefined> {
  // Loaded when first needed: most requests never refuse a file.
  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(head).catch(() => undefined);
  // It also looks behind byte-order marks and tags, where an image of an accepted type is none for us.
  if (!type || imageTypes.some(({ mediaType }) => mediaType === canonicalMediaType(type.mime))) return undefined;
  const name = type.ext.toUpperCase();
  const kind = /^(image|video)\//.exec(type.mime)?.[1] ?? 'file';
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name} ${kind}`;
}
