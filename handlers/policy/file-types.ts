import { canonicalMediaType, imageTypes } from './image-types.js';

/**
 * Describes the type of a rejected file from its first bytes, such as "a HEIC image" or "a PDF file". Returns undefined if the
 * type is unknown. Only for messages: `detectImageType` decides which files are accepted.
 */
export async function describeFileType(head: Uint8Array): Promise<string | undefined> {
  // Loaded on demand because files are rarely rejected.
  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(head).catch(() => undefined);
  // The library skips byte-order marks and ID3 tags, so it may detect an accepted type although `detectImageType` does not.
  // A message such as "must be a PNG, not a PNG" would be confusing.
  if (!type || imageTypes.some(({ mediaType }) => mediaType === canonicalMediaType(type.mime))) return undefined;
  const name = type.ext.toUpperCase();
  const kind = /^(image|video)\//.exec(type.mime)?.[1] ?? 'file';
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name} ${kind}`;
}
