import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** Images up to this size are read into memory completely before they are served. */
export const SMALL_IMAGE_BYTES = 256 * 1024;

/** Larger buffers take much longer: the allocator requests their memory from the system each time. */
const CHUNK_BYTES = 64 * 1024;

const ignore = () => undefined;

/** Reads a file of this size with one call. */
export async function readChunks(file: FileHandle, size: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  // Does not use Node's buffer pool, because the cache may keep the chunks for a long time.
  for (let at = 0; at < size; at += CHUNK_BYTES) chunks.push(Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size - at)));
  if (chunks.length === 0) return chunks;
  const { bytesRead } = await file.readv(chunks, 0);
  if (bytesRead < size) throw new Error('The file was truncated while it was being read');
  return chunks;
}

/** Returns a stream of chunks in memory. Its high-water mark is their total size, which counts in the response budget. */
export function streamOf(chunks: readonly Buffer[]): Readable {
  const stream = new Readable({
    highWaterMark: chunks.reduce((sum, { length }) => sum + length, 0),
    read() {
      for (const chunk of chunks) this.push(chunk);
      this.push(null);
    },
  });
  // Without a listener, an error of the stream would end the process.
  return stream.on('error', ignore);
}
