import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Header, list } from 'tar';

/*
 * The format of a backup: a tar archive whose last file is a manifest with the SHA-256 of every other file. The manifest is
 * written last, so an archive without it is incomplete.
 */

/** A file or directory to archive, under a relative path with slashes. */
export interface ArchiveEntry {
  path: string;
  /** The path of the file, or its content. Undefined for a directory. A file that does not exist is skipped. */
  source?: string | Buffer;
}

/** A file is not a backup, or it is incomplete or damaged. */
export class BadArchiveError extends Error {
  readonly code = 'bad_archive';
  override readonly name = 'BadArchiveError';
}

/** The path of the manifest. It has one line per file, in the format of sha256sum, and a last line with the number of files. */
const MANIFEST = 'manifest.sha256';

const manifestOf = (lines: readonly string[]) => `${lines.join('')}# complete: ${lines.length} files\n`;

const BLOCK_BYTES = 512;
const CHUNK_BYTES = 256 * 1024;

/** Yields the bytes of a tar archive with these entries and the manifest. */
export async function* writeArchive(entries: AsyncIterable<ArchiveEntry>): AsyncGenerator<Uint8Array> {
  const lines: string[] = [];
  for await (const { path, source } of entries) {
    if (source === undefined) yield headerOf(`${path}/`, 'Directory', 0);
    else if (typeof source !== 'string') lines.push(yield* writeFile(path, source.length, [source]));
    else lines.push(...(yield* copyFile(path, source)));
  }
  const manifest = Buffer.from(manifestOf(lines));
  yield* writeFile(MANIFEST, manifest.length, [manifest]);
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** Yields a file in the format of tar. Returns its line of the manifest. */
async function* writeFile(
  path: string,
  size: number,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, string> {
  const hash = createHash('sha256');
  yield headerOf(path, 'File', size);
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  // Pads the file to whole blocks.
  yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
  return `${hash.digest('hex')}  ${path}\n`;
}

/** Yields a file from the disk in the format of tar. Returns its line of the manifest, or none if the file does not exist. */
async function* copyFile(path: string, source: string): AsyncGenerator<Uint8Array, string[]> {
  const file = await open(source).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (!file) return [];
  try {
    const { size } = await file.stat();
    return [yield* writeFile(path, size, readFile(file, size))];
  } finally {
    await file.close();
  }
}

/** Yields the first `size` bytes of a file, which may change meanwhile. */
async function* readFile(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - position));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    // If PostgreSQL truncates a file while it is read, the rest is zeros, as in pg_basebackup. The replay of the WAL truncates
    // the restored file again.
    yield bytesRead > 0 ? chunk.subarray(0, bytesRead) : chunk;
    position += bytesRead || chunk.length;
  }
}

function headerOf(path: string, type: 'File' | 'Directory', size: number): Uint8Array {
  const mode = type === 'File' ? 0o600 : 0o700;
  const header = new Header({ path, type, size, mode, uid: 0, gid: 0, mtime: new Date() });
  const block = Buffer.alloc(BLOCK_BYTES);
  if (header.encode(block, 0)) throw new Error(`${path} does not fit into a tar header`);
  return block;
}

/** Compares every file in the archive with the manifest. Returns the number of files. @throws BadArchiveError */
export async function checkArchive(archive: string): Promise<number> {
  const lines: string[] = [];
  let manifest = '';
  try {
    await list({
      file: archive,
      strict: true,
      onReadEntry(entry) {
        if (entry.type === 'Directory') return;
        const hash = createHash('sha256');
        entry.on('data', (chunk) => {
          if (entry.path === MANIFEST) manifest += chunk.toString();
          else hash.update(chunk);
        });
        // The line of a link does not match any manifest.
        entry.on('end', () => {
          const digest = entry.type === 'File' ? hash.digest('hex') : entry.type;
          if (entry.path !== MANIFEST) lines.push(`${digest}  ${entry.path}\n`);
        });
      },
    });
    if (lines.length === 0 || manifest !== manifestOf(lines)) throw new Error('its files do not match its manifest');
  } catch (error) {
    throw new BadArchiveError(`${archive} is not a complete backup: ${(error as Error).message}`);
  }
  return lines.length;
}
