import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crash, type History, type Remains } from './disk.js';

export async function writeRemains(remains: Remains, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, child] of remains) {
    const path = join(directory, name);
    if (Buffer.isBuffer(child)) await writeFile(path, child);
    else await writeRemains(child, path);
  }
}

/**
 * Where a history, played back without any loss, differs from the directory that it is the history of. A recording that
 * misses something would prove nothing.
 */
export async function differences(history: History, directory: string): Promise<string[]> {
  const { remains } = crash(history, {
    at: Number.POSITIVE_INFINITY,
    model: 'strict',
    fate: { entries: 'kept', content: 'kept' },
    chance: () => true,
    counts: () => true,
  });
  return compare(remains, directory, '');
}

async function compare(remains: Remains, directory: string, prefix: string): Promise<string[]> {
  const different: string[] = [];
  const left = new Map(remains);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const [path, played] = [join(directory, entry.name), left.get(entry.name)];
    left.delete(entry.name);
    if (entry.isDirectory() && played && !Buffer.isBuffer(played))
      different.push(...(await compare(played, path, `${prefix}${entry.name}/`)));
    else if (!entry.isFile() || !Buffer.isBuffer(played) || !played.equals(await readFile(path)))
      different.push(prefix + entry.name);
  }
  return [...different, ...[...left.keys()].map((name) => prefix + name)];
}
