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

/** The maximum number of separate edits, which bounds the time for a file that consists of tiny pieces of metadata. */
const MAX_EDITS = 10_000;

/** Removes a range, or replaces it with other bytes. Merges the removal of adjacent ranges into one edit. */
export function replace(edits: Edit[], start: number, end: number, bytes = NO_BYTES): void {
  const last = edits.at(-1);
  if (bytes.length === 0 && last?.end === start && !last.isInPlace) last.end = end;
  else add(edits, { start, end, bytes, isInPlace: false });
}

/** Overwrites a range with `content` and zeros. */
export function overwrite(edits: Edit[], start: number, end: number, content: Buffer | string = NO_BYTES): void {
  add(edits, { start, end, bytes: Buffer.from(content).subarray(0, end - start), isInPlace: true });
}

function add(edits: Edit[], edit: Edit): void {
  if (edits.length === MAX_EDITS) throw new UnreadableImageError('There are too many pieces of metadata', true);
  edits.push(edit);
}

/**
 * Removes bytes that belong to no element of the image, such as those after its end, or replaces them. They may be the rest of
 * metadata whose length is wrong. Keeps bytes 00 and FF, which programs use as padding, unless they follow removed bytes.
 */
export function removeStrayBytes(
  edits: Edit[],
  bytes: Buffer,
  start: number,
  end: number,
  replacement = NO_BYTES,
): void {
  const last = edits.at(-1);
  let at = start;
  if (last?.end !== start || last.isInPlace) while (at < end && (bytes[at] === 0 || bytes[at] === 0xff)) at++;
  if (at < end) replace(edits, start, end, replacement);
}

/** Returns a copy of a file with its edits applied, which may be in any order. */
export function applyEdits(bytes: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  let previous: Edit | undefined;
  for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
    // The image and the sequence in an AVIF may share metadata.
    if (previous?.start === edit.start && previous.end === edit.end && previous.bytes.equals(edit.bytes)) continue;
    if (edit.start < at) throw new UnreadableImageError('Two pieces of metadata overlap', true);
    pieces.push(bytes.subarray(at, edit.start), edit.bytes);
    if (edit.isInPlace) pieces.push(Buffer.alloc(edit.end - edit.start - edit.bytes.length));
    at = edit.end;
    previous = edit;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}
