import { checkDimensions } from './dimensions.js';
import { type Edit, Walk } from './edits.js';
import { UnreadableImageError } from './errors.js';

const SCREEN_AT = 6;
const HEADER_BYTES = 13;
const DESCRIPTOR_BYTES = 10;

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const GRAPHIC_CONTROL = 0xf9;
const APPLICATION = 0xff;

const COLOR_PROFILE = 'ICCRGBG1012';
/** The application extensions to keep: the repeat count of an animation, which has two names, and the color profile. */
const keptApplications = ['NETSCAPE2.0', 'ANIMEXTS1.0', COLOR_PROFILE];
/** The sizes of the sub-blocks to keep of the repeat count, by their first byte: 1 for the count, 2 for the buffer. */
const repeatSizes = [undefined, 3, 5];

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
      if (start < bytes.length) cleanExtension(walk, start, at);
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

/** Removes an extension, or those of its sub-blocks that decoders ignore. */
function cleanExtension(walk: Walk, start: number, end: number): void {
  const { bytes } = walk;
  const [label, length = 0] = bytes.subarray(start + 1, end);
  const name = label === APPLICATION && length === 11 ? bytes.toString('latin1', start + 3, start + 14) : '';
  if (label !== GRAPHIC_CONTROL && !keptApplications.includes(name)) walk.replace(start, end);
  else if (name !== COLOR_PROFILE) {
    for (let next: number, at = start + 3 + length; at < end - 1; at = next) {
      next = Math.min(at + 1 + (bytes[at] as number), end);
      if (!name || bytes[at] !== repeatSizes[bytes[at + 1] as number]) walk.replace(at, next);
    }
  }
}

/** Returns the position after a series of sub-blocks, which the end of the file may truncate. */
function skipSubBlocks(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] as number);
  return Math.min(at + 1, bytes.length);
}
