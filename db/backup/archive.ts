import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Header, list } from 'tar';

/** A file or a directory of the archive. */
export interface ArchiveEntry {
  /** Relative, with slashes. */
  path: string;
  /** Undefined for a directory. */
  file?: { size: number; bytes: AsyncIterable<Uint8Array> };
}

/** The archive is incomplete or damaged, or is no backup. */
export class BadArchiveError extends Error {
  readonly code = 'bad_archive';
  constructor(message: string) {
    super(message);
    this.name = 'BadArchiveError';
  }
}

/** The last entry: a line for each file, as sha256sum reads them, and one that says how many there are. */
const MANIFEST = 'manifest.sha256';

const completion = (files: number) => `# complete: ${files} files`;

const BLOCK_BYTES = 512;

/**
 * Creates a tar archive: its entries, then the manifest, by which a reader knows that it is complete.
 *
 * @throws Error when an entry has fewer or more bytes than it says
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
    if (size !== file.size) throw new Error(`${path} has ${size} bytes, not ${file.size}`);
    yield padding(size);
    manifest.push(`${hash.digest('hex')}  ${path}\n`);
  }
  const lines = Buffer.from(`${manifest.join('')}${completion(manifest.length)}\n`);
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

const padding = (size: number) => Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);

/**
 * Reads the whole archive and compares every file with the manifest. Returns how many files there are.
 *
 * @throws BadArchiveError
 */
export async function checkArchive(archive: string): Promise<number> {
  const hashes = new Map<string, string>();
  let manifest = '';
  // Reading it as an archive says nothing about a file that is not there.
  await (await open(archive)).close();
  try {
    await list({
      file: archive,
      strict: true,
      onReadEntry(entry) {
        if (entry.type === 'Directory') return void entry.resume();
        if (entry.type !== 'File') throw new BadArchiveError(`${entry.path} is no file`);
        const hash = createHash('sha256');
        entry.on('data', (chunk) => {
          hash.update(chunk);
          if (entry.path === MANIFEST) manifest += chunk.toString();
        });
        entry.on('end', () => hashes.set(entry.path, hash.digest('hex')));
      },
    });
  } catch (cause) {
    throw new BadArchiveError(`${archive} is not a whole backup: ${(cause as Error).message}`);
  }
  hashes.delete(MANIFEST);
  const lines = [...hashes].map(([path, hash]) => `${hash}  ${path}\n`);
  if (hashes.size === 0 || manifest !== `${lines.join('')}${completion(hashes.size)}\n`) {
    throw new BadArchiveError(`${archive} is not a whole backup: its files are not those of its manifest`);
  }
  return hashes.size;
}
