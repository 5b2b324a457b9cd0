import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createDirectoryOnce } from './once.js';

export const GO_INSTALL_HINT = 'apt-get install golang, brew install go, or https://go.dev/dl; 1.21 or later';

/**
 * Builds a program with `go install` into its own directory, unless it exists. The caches are in the same directory and
 * removed afterwards.
 */
export function installGoProgram(
  directory: string,
  source: string,
  version: string,
  go: (args: string[], env: Record<string, string>) => Promise<unknown>,
): Promise<void> {
  return createDirectoryOnce(directory, async (partial) => {
    const work = join(partial, 'work');
    const [GOPATH, GOCACHE, GOBIN] = [join(work, 'path'), join(work, 'cache'), join(work, 'bin')];
    await go(['install', '-v', `${source}@${version}`], { GOPATH, GOCACHE, GOBIN, GOFLAGS: '-modcacherw' });
    await rename(join(GOBIN, basename(source)), join(partial, basename(source)));
    await rm(work, { recursive: true });
  });
}
