import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolsFolder } from '../../scripts/tools/folder.js';

/** Is written last: without it a directory is not made yet. It says what it was made for. */
const STAMP = '.made-for';

/**
 * A directory there, made once for what its manifests say. What was cut short, or made for other manifests, is begun anew,
 * in its own place, because a Python environment cannot be moved.
 */
export async function madeOnce(
  name: string,
  manifests: readonly string[],
  make: (directory: string) => Promise<void>,
): Promise<string> {
  const directory = toolsFolder(name);
  const hash = createHash('sha256');
  for (const manifest of manifests) hash.update(await readFile(manifest));
  const wanted = hash.digest('hex');
  const stamp = join(directory, STAMP);
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return directory;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await make(directory);
  await writeFile(stamp, wanted);
  return directory;
}
