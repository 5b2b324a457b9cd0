import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeOnce } from './once.js';

export const GET_GO = 'apt-get install golang, brew install go, or https://go.dev/dl; 1.21 or later';

/**
 * Has Go's own command fetch and build a program into a directory of its own, once. Its caches live in there only as long
 * as it takes.
 */
export function installGoProgram(
  directory: string,
  source: string,
  version: string,
  go: (args: string[], env: Record<string, string>) => Promise<unknown>,
): Promise<void> {
  return makeOnce(directory, async (partial) => {
    const work = join(partial, 'work');
    const [GOPATH, GOCACHE, GOBIN] = [join(work, 'path'), join(work, 'cache'), join(work, 'bin')];
    await go(['install', '-v', `${source}@${version}`], { GOPATH, GOCACHE, GOBIN, GOFLAGS: '-modcacherw' });
    await rename(join(GOBIN, basename(source)), join(partial, basename(source)));
    await rm(work, { recursive: true });
  });
}
