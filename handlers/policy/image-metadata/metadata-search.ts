import { type ImageFile, READ_BUFFER_BYTES } from './image-file.js';

/*
 * Searches for signs of metadata in a file that cannot be parsed. The search is a heuristic: a false alarm only causes a
 * damaged image to be refused.
 */

/** Byte strings that indicate metadata at any position. They are too long to occur by chance. */
const signatures = [
  'Exif\0',
  'II*\0\x08\0\0\0',
  'MM\0*\0\0\0\x08',
  'http://ns.adobe.com/',
  '<x:xmpmeta',
  '<?xpacket',
  'application/rdf+xml',
  'Photoshop 3.0',
  'XMP DataXMP',
  'Raw profile type ',
  'MotionPhoto_Data',
].map((signature) => Buffer.from(signature, 'latin1'));

/**
 * The names of metadata chunks and boxes, by media type. A name is short and may occur by chance. It counts as metadata if the
 * length next to it does not exceed the rest of the file, or if the name occurs often.
 */
const chunks: Record<string, { names: readonly string[]; readLength: (bytes: Buffer, at: number) => number }> = {
  'image/png': {
    names: ['tEXt', 'zTXt', 'iTXt', 'tIME', 'eXIf'],
    readLength: (bytes, at) => (at >= 4 ? bytes.readUInt32BE(at - 4) : Infinity),
  },
  'image/webp': {
    names: ['EXIF', 'XMP '],
    readLength: (bytes, at) => (at + 8 <= bytes.length ? bytes.readUInt32LE(at + 4) : Infinity),
  },
  'image/avif': {
    names: ['udta', 'uuid', '\xa9xyz', 'loci'],
    readLength: (bytes, at) => (at >= 4 ? bytes.readUInt32BE(at - 4) : Infinity),
  },
};

/** How often a name may occur by chance in `READ_BUFFER_BYTES`. */
const MAX_OCCURRENCES = 16;

/** The overlap of consecutive reads: more than the length of any signature, and of any name with its length field. */
const OVERLAP_BYTES = 32;

export async function seemsToContainMetadata(file: ImageFile, mediaType: string): Promise<boolean> {
  for (let at = 0; at < file.size; at += READ_BUFFER_BYTES - OVERLAP_BYTES) {
    const bytes = await file.read(at, Math.min(READ_BUFFER_BYTES, file.size - at));
    if (signatures.some((signature) => bytes.includes(signature)) || hasChunk(bytes, mediaType, file.size - at))
      return true;
  }
  return false;
}

/**
 * Returns whether the bytes contain a metadata chunk. `remainingBytes` is the number of bytes from their start to the end
 * of the file.
 */
function hasChunk(bytes: Buffer, mediaType: string, remainingBytes: number): boolean {
  const format = chunks[mediaType];
  if (!format) return false;
  return format.names.some((name) => {
    let occurrences = 0;
    for (let at = bytes.indexOf(name, 0, 'latin1'); at !== -1; at = bytes.indexOf(name, at + 1, 'latin1')) {
      if (at + format.readLength(bytes, at) <= remainingBytes || ++occurrences > MAX_OCCURRENCES) return true;
    }
    return false;
  });
}
