import { setImmediate } from 'node:timers/promises';

/*
 * Searches for signs of metadata in a file whose structure cannot be followed. The search is a heuristic: a false alarm only
 * causes a damaged image to be refused.
 */

/** Texts that indicate metadata in a file of any type. They are too long to occur by chance. */
const texts =
  /Exif\0|II\*\0\x08\0\0\0|MM\0\*\0\0\0\x08|http:\/\/ns\.adobe\.com\/|<x:xmpmeta|<\?xpacket|application\/rdf\+xml|Photoshop 3\.0|XMP DataXMP|Raw profile type |MotionPhoto_Data/;

/** Signs of metadata by media type: these texts, and segments, chunks and boxes with metadata. */
const signs: Readonly<Record<string, RegExp>> = {
  // The last lines are application segments and comments: marker, length, and text up to the next marker.
  'image/jpeg': joined(
    texts,
    /JFXX\0|JFIF\0.{7}(?!\0\0)|MPF\0|Ducky|jumb/,
    /\xff[\xe1-\xef\xfe]..(?:[\s -~]{12}|[\s -~]{3,11}\xff[\xc0-\xfe])/,
    /\xff\xfe..[\s -~]{3,11}$/,
  ),
  'image/png': joined(texts, /tEXt|zTXt|iTXt|tIME|eXIf/),
  // A comment: introducer, length, and text up to its end.
  'image/gif': joined(texts, /!\xfe.(?:[\s -~]{12}|[\s -~]{3,11}(?:\0|$))/),
  'image/webp': joined(texts, /EXIF|XMP /),
  'image/avif': joined(texts, /Exif|mime|thmb|udta|uuid|\xa9xyz|loci/),
};

/** The number of bytes to search before the event loop can handle other requests. */
const SLICE_BYTES = 1024 * 1024;
/** The overlap of slices, which is longer than any match. */
const OVERLAP_BYTES = 64;

export async function seemsToContainMetadata(bytes: Buffer, mediaType: string): Promise<boolean> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    await setImmediate();
    if (signs[mediaType]?.test(bytes.toString('latin1', at, at + SLICE_BYTES + OVERLAP_BYTES))) return true;
  }
  return false;
}

function joined(...patterns: RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 's');
}
