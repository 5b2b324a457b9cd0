import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Header, list } from 'tar';

/*
 * The format of a backup: a tar archive whose last file is a manifest with the SHA-256 of every other file. The manifest is
 * written last, so an archive without it is incomplete.
 */

/** A file or directory in the archive. */
export interface ArchiveEntry {
  /** A relative path with slashes. */
  path: string;
  /** Undefined for a directory. */
  file?: { size: number; bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array> };
}

/** A file is not a backup, or it is incomplete or damaged. */
export class BadArchiveError extends Error {
  readonly code = 'bad_archive';
  constructor(message: string) {
    super(message);
    this.name = 'BadArchiveError';
  }
}

/** The path of the manifest. It has one line per file, in the format of sha256sum, and a last line with the number of files. */
const MANIFEST = 'manifest.sha256';

const completionLine = (fileCount: number) => `# complete: ${fileCount} files`;

const BLOCK_BYTES = 512;

/**
 * Yields the bytes of a tar archive with these entries and the manifest.
 *
 * @throws Error if the number of bytes of a file differs from its size
 */
export async function* writeArchive(entries: AsyncIterable<ArchiveEntry>): AsyncGenerator<Uint8Array> {
  const manifest: string[] = [];
  for await (const { path, file } of entries) {
    if (!file) {
      yield headerOf(`${path}/`, 'Directory', 0);
      continue;
    }
    const hash = createHash('sha256');
    let size = 0;
    yield headerOf(path, 'File', file.size);
    for await (const chunk of file.bytes) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
    if (size !== file.size) throw new Error(`${path} has ${size} bytes instead of ${file.size}`);
    yield padding(size);
    manifest.push(`${hash.digest('hex')}  ${path}\n`);
  }
  const lines = Buffer.from(`${manifest.join('')}${completionLine(manifest.length)}\n`);
  yield headerOf(MANIFEST, 'File', lines.length);
  yield lines;
  yield padding(lines.length);
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

function headerOf(path: string, type: 'File' | 'Directory', size: number): Uint8Array {
  const mode = type === 'File' ? 0o600 : 0o700;
  const header = new Header({ path, type, size, mode, uid: 0, gid: 0, mtime: new Date() });
  const block = Buffer.alloc(BLOCK_BYTES);
  if (header.encode(block, 0)) throw new Error(`${path} does not fit into a tar header`);
  return block;
}

/** Returns the zeros that follow a file of this size: tar pads files to whole blocks. */
const padding = (size: number) => Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);

/**
 * Compares every file in the archive with the manifest. Returns the number of files, without the manifest.
 *
 * @throws BadArchiveError if they differ or the archive cannot be parsed; the error of `open` if it cannot be opened
 */
export async function checkArchive(archive: string): Promise<number> {
  const hashes = new Map<string, string>();
  let manifest = '';
  let irregularPath: string | undefined;
  // Outside of the try block, so that a missing or unreadable file is not reported as a bad archive.
  await (await open(archive)).close();
  try {
    await list({
      file: archive,
      strict: true,
      onReadEntry(entry) {
        if (entry.type === 'Directory') return;
        // An error that is thrown here would end the process.
        if (entry.type !== 'File') irregularPath ??= entry.path;
        const hash = createHash('sha256');
        entry.on('data', (chunk) => {
          hash.update(chunk);
          if (entry.path === MANIFEST) manifest += chunk.toString();
        });
        entry.on('end', () => hashes.set(entry.path, hash.digest('hex')));
      },
    });
  } catch (cause) {
    throw new BadArchiveError(`${archive} is not a complete backup: ${(cause as Error).message}`);
  }
  if (irregularPath !== undefined)
    throw new BadArchiveError(`${archive} is not a complete backup: ${irregularPath} is not a regular file`);
  hashes.delete(MANIFEST);
  const lines = [...hashes].map(([path, hash]) => `${hash}  ${path}\n`);
  if (hashes.size === 0 || manifest !== `${lines.join('')}${completionLine(hashes.size)}\n`) {
    throw new BadArchiveError(`${archive} is not a complete backup: its files do not match its manifest`);
  }
  return hashes.size;
}
