import { CHUNK_BYTES, type ImageFile } from './image-file.js';

/** Byte strings that indicate metadata at any position. All are too long to occur by chance. */
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
 * The names of metadata chunks and boxes, by media type. A name counts if the length next to it fits in the file, or if the
 * name is frequent.
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

/** The maximum number of chance occurrences of a name in `CHUNK_BYTES`. */
const MAX_OCCURRENCES = 16;

/** The overlap of consecutive reads: longer than any signature, or name with its length. */
const OVERLAP_BYTES = 32;

/** Returns whether a file that cannot be parsed seems to contain metadata. */
export async function hasMetadataMarkers(file: ImageFile, mediaType: string): Promise<boolean> {
  for (let at = 0; at < file.size; at += CHUNK_BYTES - OVERLAP_BYTES) {
    const bytes = await file.read(at, Math.min(CHUNK_BYTES, file.size - at));
    if (signatures.some((signature) => bytes.includes(signature)) || hasChunk(bytes, mediaType, file.size - at))
      return true;
  }
  return false;
}

/** Returns whether the bytes contain a metadata chunk. `remainingBytes` is the length of the file from their start on. */
function hasChunk(bytes: Buffer, mediaType: string, remainingBytes: number): boolean {
  const { names = [], readLength = () => Infinity } = chunks[mediaType] ?? {};
  return names.some((name) => {
    let occurrences = 0;
    for (let at = bytes.indexOf(name, 0, 'latin1'); at !== -1; at = bytes.indexOf(name, at + 1, 'latin1')) {
      if (at + readLength(bytes, at) <= remainingBytes || ++occurrences > MAX_OCCURRENCES) return true;
    }
    return false;
  });
}
