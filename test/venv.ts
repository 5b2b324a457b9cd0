import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { toolsFolder } from '../scripts/tools/folder.js';

const run = promisify(execFile);

/**
 * The directory of the programs that a file of Python requirements names, in a virtual environment of their own. It is made
 * once, and anew when the requirements have changed or the making was cut short.
 */
export async function venv(name: string, requirementsFile: string): Promise<string> {
  const directory = toolsFolder('python', name);
  const bin = join(directory, 'bin');
  const stamp = join(directory, 'requirements.sha256');
  const wanted = createHash('sha256')
    .update(await readFile(requirementsFile))
    .digest('hex');
  if ((await readFile(stamp, 'utf8').catch(() => undefined)) === wanted) return bin;
  await rm(directory, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await run('python3', ['-m', 'venv', directory]);
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check'];
  await run(join(bin, 'pip'), ['install', ...quiet, '--requirement', requirementsFile]);
  await writeFile(stamp, wanted);
  return bin;
}
