import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createDirectoryAtomically } from './once.js';

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
