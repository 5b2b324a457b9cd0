import type { FileHandle } from 'node:fs/promises';
import type { Edit } from './findings.js';
import { READ_BUFFER_BYTES } from './image-file.js';

/**
 * Applies edits to an open file in place. Returns its new size in bytes. Edits never make their ranges longer, so the
 * position of writes is never ahead of the position of reads.
 *
 * @param edits sorted by position, without overlaps
 */
export async function applyEdits(handle: FileHandle, size: number, edits: readonly Edit[]): Promise<number> {
  const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES);
  let source = 0;
  let target = 0;

  const write = async (bytes: Buffer) => {
    for (let written = 0; written < bytes.length; ) {
      written += (await handle.write(bytes, written, bytes.length - written, target + written)).bytesWritten;
    }
    target += bytes.length;
  };
  /** Copies the bytes from the source position up to `end` to the target position. */
  const copyUntil = async (end: number) => {
    if (source === target) {
      source = end;
      target = end;
    }
    while (source < end) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(READ_BUFFER_BYTES, end - source), source);
      if (bytesRead === 0) throw new Error('The uploaded file was truncated while it was being edited');
      await write(buffer.subarray(0, bytesRead));
      source += bytesRead;
    }
  };

  for (const { at, length, bytes, fill } of edits) {
    await copyUntil(at);
    await write(bytes);
    source = at + length;
    if (fill === undefined) continue;
    buffer.fill(fill);
    for (let remaining = length - bytes.length; remaining > 0; remaining -= READ_BUFFER_BYTES) {
      await write(buffer.subarray(0, Math.min(remaining, READ_BUFFER_BYTES)));
    }
  }
  await copyUntil(size);
  if (target < size) await handle.truncate(target);
  return target;
}
