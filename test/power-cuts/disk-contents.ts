import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crash, type DiskContents, type History } from './disk.js';

/** Writes the contents into a directory, which is created if missing. */
export async function writeContents(contents: DiskContents, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, child] of contents) {
    const path = join(directory, name);
    if (Buffer.isBuffer(child)) await writeFile(path, child);
    else await writeContents(child, path);
  }
}

/**
 * Returns the paths in which a history, replayed without loss, differs from the recorded directory. A difference means that
 * the recording is incomplete.
 */
export async function differences(history: History, directory: string): Promise<string[]> {
  const { contents } = crash(history, {
    at: Number.POSITIVE_INFINITY,
    fate: { entries: 'kept', content: 'kept' },
    chance: () => true,
    respectsSyncs: () => true,
  });
  return compare(contents, directory, '');
}

async function compare(contents: DiskContents, directory: string, prefix: string): Promise<string[]> {
  const different: string[] = [];
  const unmatched = new Map(contents);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const [path, replayed] = [join(directory, entry.name), unmatched.get(entry.name)];
    unmatched.delete(entry.name);
    if (entry.isDirectory() && replayed && !Buffer.isBuffer(replayed))
      different.push(...(await compare(replayed, path, `${prefix}${entry.name}/`)));
    else if (!entry.isFile() || !Buffer.isBuffer(replayed) || !replayed.equals(await readFile(path)))
      different.push(prefix + entry.name);
  }
  return [...different, ...[...unmatched.keys()].map((name) => prefix + name)];
}
