import { type Edit, Walk } from './edits.js';
import { checkDimensions, UnreadableImageError } from './errors.js';

const SCREEN_AT = 6;
const HEADER_BYTES = 13;
const DESCRIPTOR_BYTES = 10;

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const GRAPHIC_CONTROL = 0xf9;
const APPLICATION = 0xff;

/** The application extensions to keep: the repeat count of an animation, which has two names, and the color profile. */
const keptApplications = ['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012'];

/**
 * Walks a GIF (CompuServe GIF89a) block by block. Keeps only those extensions that affect how frames are shown. As decoders do,
 * skips bytes between blocks, and takes the end of the file for the end of the image.
 */
export function walkGif(bytes: Buffer): Edit[] {
  const walk = new Walk(bytes);
  const [width, height] = [bytes.readUInt16LE(SCREEN_AT), bytes.readUInt16LE(SCREEN_AT + 2)];
  let hasImage = false;
  for (let at = HEADER_BYTES + colorTableBytes(bytes[SCREEN_AT + 4]); at < bytes.length; ) {
    walk.countElement();
    const start = findBlock(bytes, at, hasImage);
    walk.removeStrayBytes(at, start);
    if (bytes[start] === TRAILER) {
      walk.removeStrayBytes(start + 1, bytes.length);
      break;
    }
    if (bytes[start] === IMAGE) {
      checkDimensions(Math.max(width, bytes.readUInt16LE(start + 5)), Math.max(height, bytes.readUInt16LE(start + 7)));
      hasImage = true;
      at = skipSubBlocks(bytes, codeSizeAt(bytes, start) + 1);
    } else {
      at = skipSubBlocks(bytes, start + 2);
      if (start < bytes.length && !isKeptExtension(bytes, start)) walk.replace(start, at);
    }
  }
  if (!hasImage) throw new UnreadableImageError('There is no image');
  return walk.edits;
}

/** Returns the size of a color table in bytes, given the flags that declare it. */
const colorTableBytes = (flags = 0) => (flags & 0x80 ? 6 << (flags & 7) : 0);

/** Returns the position of the code size of a frame, which precedes its data. */
const codeSizeAt = (bytes: Buffer, frame: number) =>
  frame + DESCRIPTOR_BYTES + colorTableBytes(bytes[frame + DESCRIPTOR_BYTES - 1]);

/**
 * Returns the position of the next extension or frame, or, if there was a frame, of the trailer. Returns the length of the file
 * if there is none.
 */
function findBlock(bytes: Buffer, start: number, hasImage: boolean): number {
  for (let at = start; at < bytes.length; at++) {
    const introducer = bytes[at];
    if (introducer === EXTENSION || (introducer === TRAILER && hasImage)) return at;
    if (introducer !== IMAGE) continue;
    const codeSize = bytes[codeSizeAt(bytes, at)] ?? 0;
    if (codeSize >= 1 && codeSize <= 11) return at;
  }
  return bytes.length;
}

/** Returns whether to keep the extension at a position. */
function isKeptExtension(bytes: Buffer, at: number): boolean {
  if (bytes[at + 1] === GRAPHIC_CONTROL) return true;
  if (bytes[at + 1] !== APPLICATION || bytes[at + 2] !== 11) return false;
  return keptApplications.includes(bytes.toString('latin1', at + 3, at + 14));
}

/** Returns the position after a series of sub-blocks, which the end of the file may truncate. */
function skipSubBlocks(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] as number);
  return Math.min(at + 1, bytes.length);
}
