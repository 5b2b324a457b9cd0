import { canonicalMediaType, imageTypes } from './image-types.js';

/**
 * Returns the type of a rejected file, such as "HEIC" or "PDF", by its first bytes. Returns undefined if the type is unknown.
 * Only for messages: `detectImageType` decides which files are accepted.
 */
export async function describeFileType(head: Uint8Array): Promise<string | undefined> {
  // Loaded on demand because files are rarely rejected.
  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(head).catch(() => undefined);
  // The library skips byte-order marks and ID3 tags, so it may detect an accepted type although `detectImageType` does not.
  // A message such as "must be a PNG, not PNG" would be confusing.
  if (!type || imageTypes.some(({ mediaType }) => mediaType === canonicalMediaType(type.mime))) return undefined;
  return type.ext.toUpperCase();
}
