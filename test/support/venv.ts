import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from './tools.js';

const run = promisify(execFile);

/** The directory of programs of a Python environment that holds what a file requires, by version and hash. */
export async function venv(name: string, requirementsFile: string): Promise<string> {
  const directory = await madeOnce(join('venv', name), [requirementsFile], async (made) => {
    await run('python3', ['-m', 'venv', made]);
    const options = ['--quiet', '--disable-pip-version-check', '--require-hashes'];
    await run(join(made, 'bin', 'pip'), ['install', ...options, '-r', requirementsFile]);
  });
  return join(directory, 'bin');
}
