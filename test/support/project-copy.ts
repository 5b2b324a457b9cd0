import { cp, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { temporaryDirectory } from './stores.js';

/** Copies files and directories of the project, so that a test can change them. The packages are linked. */
export async function copyProject(t: Test, names: readonly string[]) {
  const directory = await temporaryDirectory(t);
  for (const name of names) await cp(name, join(directory, name), { recursive: true });
  await symlink(join(process.cwd(), 'node_modules'), join(directory, 'node_modules'));
  return {
    directory,
    /** Replaces the first occurrence of a text in a file of the copy, by a new file, as `sed -i` does. Throws if there is none. */
    async replaceIn(file: string, from: string, to: string): Promise<void> {
      const path = join(directory, file);
      const before = await readFile(path, 'utf8');
      if (!before.includes(from)) throw new Error(`${file} does not contain ${from}`);
      const replacement = join(directory, 'replacement');
      await writeFile(
        replacement,
        before.replace(from, () => to),
      );
      await rename(replacement, path);
    },
  };
}
