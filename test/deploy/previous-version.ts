import { execFile } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import type { Test } from 'tap';
import { parse } from 'yaml';
import { temporaryDirectory } from '../support/stores.js';

const run = promisify(execFile);

/** The commit of the last release, from which a rolling upgrade is tested: see `scripts/versions/README.md`. */
const PREVIOUS_COMMIT = 'bfafeaa59dbeb2891eed7fe99e301e19c6aa3648';

/**
 * Builds the previous version in a separate directory, and returns the directory, or the reason why an upgrade from that
 * version cannot be tested.
 */
export async function buildPreviousVersion(t: Test): Promise<{ directory: string } | { skip: string }> {
  const isKnown = await run('git', ['cat-file', '-e', `${PREVIOUS_COMMIT}^{commit}`]).then(
    () => true,
    () => false,
  );
  if (!isKnown) return { skip: `needs the commit ${PREVIOUS_COMMIT}: a clone with its history` };
  const directory = await temporaryDirectory(t);
  const archive = join(directory, 'source.tar');
  await run('git', ['archive', '--output', archive, PREVIOUS_COMMIT]);
  await run('tar', ['-xf', archive, '-C', directory]);
  const [previous, current] = [await majorVersion(directory), await majorVersion('.')];
  // A new major version replaces the old one under the same paths, so clients have to change too.
  if (previous !== current) return { skip: `version ${current} of the contract is a new major version` };
  if (isDeepStrictEqual(await packagesOf(directory), await packagesOf('.')))
    await symlink(resolve('node_modules'), join(directory, 'node_modules'));
  else await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: directory });
  await run('npm', ['run', '--silent', 'build'], { cwd: directory });
  return { directory };
}

async function majorVersion(directory: string): Promise<string> {
  const { info } = parse(await readFile(join(directory, 'openapi.yaml'), 'utf8'));
  return info.version.split('.')[0];
}

async function packagesOf(directory: string): Promise<object> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
  return { dependencies, devDependencies };
}
