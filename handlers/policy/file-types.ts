import { canonicalMediaType, imageTypes } from './image-types.js';

/**
 * Returns a description of a file's type by its first bytes, such as "a HEIC image" or "a PDF file"; undefined if unknown.
 * For messages only: `detectImageType` decides what is accepted.
 */
export async function describeFileType(head: Uint8Array): Promise<string | undefined> {
  // Loaded on demand because files are rarely rejected.
  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(head).catch(() => undefined);
  // The library skips byte-order marks and ID3 tags, so it may find an accepted type where `detectImageType` does not.
  if (!type || imageTypes.some(({ mediaType }) => mediaType === canonicalMediaType(type.mime))) return undefined;
  const name = type.ext.toUpperCase();
  const kind = /^(image|video)\//.exec(type.mime)?.[1] ?? 'file';
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name} ${kind}`;
}
