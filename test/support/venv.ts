import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildOnce } from './tools.js';

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
