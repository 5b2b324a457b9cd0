import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { createDirectoryAtomically } from './create-directory.js';

export const GO_INSTALL_HINT = 'apt-get install golang, brew install go, or https://go.dev/dl; 1.21 or later';

/**
 * Builds a Go program into a new directory. The Go caches are in a subdirectory that is removed afterwards.
 *
 * @param packagePath the import path of the program, whose last segment is its file name
 * @param runGo runs the `go` command with these arguments and additional environment variables
 */
export function installGoProgram(
  directory: string,
  packagePath: string,
  version: string,
  runGo: (args: string[], env: Record<string, string>) => Promise<unknown>,
): Promise<void> {
  return createDirectoryAtomically(directory, async (partial) => {
    const buildDirectory = join(partial, 'build');
    const GOBIN = join(buildDirectory, 'bin');
    await runGo(['install', '-v', `${packagePath}@${version}`], {
      GOPATH: join(buildDirectory, 'path'),
      GOCACHE: join(buildDirectory, 'cache'),
      GOBIN,
      // Makes the module cache writable, so that it can be removed.
      GOFLAGS: '-modcacherw',
    });
    const program = basename(packagePath);
    await rename(join(GOBIN, program), join(partial, program));
    await rm(buildDirectory, { recursive: true });
  });
}

const run = promisify(execFile);

/** Builds a Go program into the directory, unless the directory exists. Returns the path of the program. */
export async function ensureGoProgram(directory: string, packagePath: string, version: string): Promise<string> {
  if (!existsSync(directory)) {
    await run('go', ['version']).catch(() => {
      throw new Error(`Go is required to build ${packagePath}: ${GO_INSTALL_HINT}`);
    });
    console.error(`Building ${packagePath} with Go. This takes a few minutes, and happens only once.`);
    await installGoProgram(directory, packagePath, version, (args, env) =>
      run('go', args, { env: { ...process.env, ...env } }),
    );
  }
  return join(directory, basename(packagePath));
}
