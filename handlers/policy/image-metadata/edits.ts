import { UnreadableImageError } from './errors.js';

/** Replaces a range of a file with other bytes. */
export interface Edit {
  start: number;
  end: number;
  bytes: Buffer;
  /** Whether zeros follow `bytes` up to the length of the range, so that the offsets of later bytes do not change. */
  isInPlace: boolean;
}

export const NO_BYTES: Buffer = Buffer.alloc(0);

// An element is a segment, chunk, block or box. Images have hundreds, long animations thousands, and few contain metadata. These
// limits bound the time for a file that consists of tiny elements.
const MAX_ELEMENTS = 50_000;
const MAX_EDITS = 5000;

/** Collects the edits of a walk through an image. */
export class Walk {
  readonly edits: Edit[] = [];
  #elements = 0;

  constructor(readonly bytes: Buffer) {}

  /** Counts an element. @throws UnreadableImageError if there are too many */
  countElement(): void {
    this.#elements += 1;
    if (this.#elements <= MAX_ELEMENTS) return;
    throw new UnreadableImageError('There are too many elements', this.edits.length > 0 || undefined);
  }

  /** Removes a range, or replaces it with other bytes. Merges the removal of adjacent ranges. */
  replace(start: number, end: number, bytes = NO_BYTES): void {
    const last = this.edits.at(-1);
    if (bytes.length === 0 && last?.end === start && !last.isInPlace) last.end = end;
    else this.#add({ start, end, bytes, isInPlace: false });
  }

  /** Overwrites a range with `content` and zeros. */
  overwrite(start: number, end: number, content: Buffer | string = NO_BYTES): void {
    this.#add({ start, end, bytes: Buffer.from(content).subarray(0, end - start), isInPlace: true });
  }

  #add(edit: Edit): void {
    this.edits.push(edit);
    if (this.edits.length > MAX_EDITS) throw new UnreadableImageError('There are too many pieces of metadata', true);
  }

  /**
   * Removes bytes that belong to no element, such as those after the end of the image, or replaces them. They may be the rest
   * of metadata whose length is wrong. Keeps bytes 00 and FF, which programs use as padding, unless they follow removed bytes.
   */
  removeStrayBytes(start: number, end: number, replacement = NO_BYTES): void {
    const last = this.edits.at(-1);
    let at = start;
    if (last?.end !== start || last.isInPlace) {
      while (at < end && (this.bytes[at] === 0 || this.bytes[at] === 0xff)) at++;
    }
    if (at < end) this.replace(start, end, replacement);
  }
}

/** Returns by how many bytes edits make a file shorter. */
export const removedBytes = (edits: readonly Edit[]): number =>
  edits.reduce((sum, edit) => sum + (edit.isInPlace ? 0 : edit.end - edit.start - edit.bytes.length), 0);

/** Returns a copy of a file with its edits applied, which may be in any order. */
export function applyEdits(bytes: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  let previous: Edit | undefined;
  for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
    // The image and the sequence in an AVIF may share metadata.
    if (previous?.start === edit.start && previous.end === edit.end && previous.bytes.equals(edit.bytes)) continue;
    if (edit.start < at) throw new UnreadableImageError('Two pieces of metadata overlap', true);
    if (edit.start > at) pieces.push(bytes.subarray(at, edit.start));
    pieces.push(edit.bytes);
    if (edit.isInPlace) pieces.push(Buffer.alloc(edit.end - edit.start - edit.bytes.length));
    at = edit.end;
    previous = edit;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}
