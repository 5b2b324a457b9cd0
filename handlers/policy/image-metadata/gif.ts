import { UnreadableImageError } from './errors.js';
import type { Findings } from './findings.js';
import type { ImageFile } from './image-file.js';
import { removeTrailer } from './trailer.js';

const HEADER_BYTES = 6;
const SCREEN_BYTES = 7;
const DESCRIPTOR_BYTES = 10;

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const GRAPHIC_CONTROL = 0xf9;
const APPLICATION = 0xff;

/** The application extensions to keep: the repeat count of an animation, which has two names, and the color profile. */
const keptApplications = ['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012'];

/** Walks a GIF (CompuServe GIF89a) block by block. Keeps only those extensions that affect how frames are shown. */
export async function walkGif(file: ImageFile, findings: Findings): Promise<void> {
  const screen = await file.read(HEADER_BYTES, SCREEN_BYTES);
  const [width, height] = [screen.readUInt16LE(0), screen.readUInt16LE(2)];
  let at = HEADER_BYTES + SCREEN_BYTES + colorTableBytes(screen[4] as number);
  for (let hasImage = false; ; ) {
    await findings.countElement();
    // Many files have no trailer or end within a frame, so the end of the file is accepted after the first frame.
    if (at >= file.size && hasImage) return;
    const introducer = (await file.read(at, 1))[0];
    if (introducer === TRAILER && hasImage) return removeTrailer(file, at + 1, findings);
    if (introducer === IMAGE) {
      const descriptor = await file.read(at, DESCRIPTOR_BYTES);
      const [frameWidth, frameHeight] = [descriptor.readUInt16LE(5), descriptor.readUInt16LE(7)];
      const codeAt = at + DESCRIPTOR_BYTES + colorTableBytes(descriptor[9] as number);
      const codeSize = (await file.read(codeAt, 1))[0] as number;
      if (codeSize < 1 || codeSize > 11) throw new UnreadableImageError('A frame has an invalid code size');
      at = await skipSubBlocks(file, codeAt + 1);
      // Checked only now, because a valid frame proves that the file is a GIF.
      findings.checkDimensions(Math.max(width, frameWidth), Math.max(height, frameHeight));
      hasImage = true;
    } else if (introducer === EXTENSION) {
      const start = at;
      const isKept = await isKeptExtension(file, at);
      at = await skipSubBlocks(file, at + 2);
      const isComplete = at <= file.size;
      // An incomplete extension before the first frame does not count as metadata, because it may consist of random bytes.
      findings.hasMetadata ||= !isKept && (isComplete || hasImage);
      if (!isComplete) throw new UnreadableImageError('An extension is truncated');
      if (!isKept) findings.replace(start, at - start);
    } else {
      throw new UnreadableImageError('There is an unknown block');
    }
  }
}

/** Returns the size of a color table in bytes, given the flags that declare it. */
const colorTableBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

/** Returns whether to keep the extension at a position. */
async function isKeptExtension(file: ImageFile, at: number): Promise<boolean> {
  const [, label, length] = await file.read(at, 3);
  if (label === GRAPHIC_CONTROL) return true;
  if (label !== APPLICATION || length !== 11) return false;
  const name = await file.read(at + 3, 11);
  return keptApplications.includes(name.toString('latin1'));
}

/** Returns the position after a series of sub-blocks, or a position beyond the end of the file if they are truncated. */
async function skipSubBlocks(file: ImageFile, start: number): Promise<number> {
  let at = start;
  while (at < file.size) {
    const bytes = await file.readAvailable(at);
    let index = 0;
    while (index < bytes.length) {
      const length = bytes[index] as number;
      index += 1 + length;
      if (length === 0) return at + index;
    }
    at += index;
  }
  return file.size + 1;
}
