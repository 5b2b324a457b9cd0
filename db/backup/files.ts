import { open } from 'node:fs/promises';
import type { ArchiveEntry } from './archive.js';

const CHUNK_BYTES = 256 * 1024;

/**
 * Yields the archive entry of a file, or nothing if the file does not exist. The file may change while it is read; the entry
 * keeps the size from the start. The caller reads its bytes before it continues the generator, which then closes the file.
 */
export async function* fileEntry(path: string, archivePath: string): AsyncGenerator<ArchiveEntry> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return;
  async function* read(size: number): AsyncGenerator<Uint8Array> {
    for (let position = 0; position < size; ) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - position));
      const bytesRead = (await file?.read(chunk, 0, chunk.length, position))?.bytesRead ?? 0;
      // If PostgreSQL truncates a file while it is read, its entry is padded with zeros, as in pg_basebackup. The replay of
      // the WAL truncates the restored file again.
      const bytes = bytesRead > 0 ? chunk.subarray(0, bytesRead) : chunk;
      position += bytes.length;
      yield bytes;
    }
  }
  try {
    const { size } = await file.stat();
    yield { path: archivePath, file: { size, bytes: read(size) } };
  } finally {
    await file.close();
  }
}
