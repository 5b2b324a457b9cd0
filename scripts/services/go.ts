import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { folder, makeOnce } from './folder.js';
import { run, type Tool, tool } from './tools.js';

/** A program that Go's own command fetches and builds, with all caches in the folder only as long as it takes. */
export function goProgram(who: string, source: string, version: string) {
  const home = () => folder(who, version);
  const binary = () => join(home(), basename(source));
  return {
    binary,
    fetched: () => existsSync(home()),
    tools: (): Tool[] =>
      existsSync(home())
        ? []
        : [tool('go', 'apt-get install golang, brew install go, or https://go.dev/dl; 1.21 or later')],
    fetch: () =>
      makeOnce(home(), async (partial) => {
        const work = join(partial, 'work');
        const [GOPATH, GOCACHE, GOBIN] = [join(work, 'path'), join(work, 'cache'), join(work, 'bin')];
        await run(who, 'go', ['install', '-v', `${source}@${version}`], {
          env: { GOPATH, GOCACHE, GOBIN, GOFLAGS: '-modcacherw' },
        });
        await rename(join(GOBIN, basename(source)), join(partial, basename(source)));
        await rm(work, { recursive: true });
      }),
  };
}
