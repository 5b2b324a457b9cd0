import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toolsFolder } from '../../scripts/support/tools-folder.js';

/** The file with the hash of the manifests. It is written last, so a directory without it is incomplete. */
const STAMP = '.made-for';

/**
 * Returns a cached directory. Builds it first if it is incomplete or the files in `manifests` have changed. It is built in
 * place because a Python environment cannot be moved.
 */
export async function buildOnce(
  name: string,
  manifests: readonly string[],
  build: (directory: string) => Promise<void>,
): Promise<string> {
  const directory = toolsFolder(name);
  const hash = createHash('sha256');
  for (const manifest of manifests) hash.update(await readFile(manifest));
  const expected = hash.digest('hex');
  const stamp = join(directory, STAMP);
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === expected) return directory;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await build(directory);
  await writeFile(stamp, expected);
  return directory;
}

const run = promisify(execFile);

/** Returns the `bin` directory of a Python environment with the pinned requirements of a file. */
export async function venv(name: string, requirementsFile: string): Promise<string> {
  const directory = await buildOnce(join('venv', name), [requirementsFile], async (target) => {
    await run('python3', ['-m', 'venv', target]);
    const options = ['--quiet', '--disable-pip-version-check'];
    await run(join(target, 'bin', 'pip'), ['install', ...options, '-r', requirementsFile]);
  });
  return join(directory, 'bin');
}
