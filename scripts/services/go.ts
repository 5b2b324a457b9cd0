import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { GO_INSTALL_HINT, installGoProgram } from '../tools/go.js';
import { folder } from './folder.js';
import { findTool, run, type Tool } from './tools.js';

/** Returns the path of a server that is written in Go, and the members of `Server` that fetch it. */
export function goProgram(name: string, packagePath: string, version: string) {
  const directory = () => folder(name, version);
  return {
    binary: () => join(directory(), basename(packagePath)),
    members: {
      version: () => version,
      isFetched: () => existsSync(directory()),
      tools: (): Tool[] => (existsSync(directory()) ? [] : [findTool('go', GO_INSTALL_HINT)]),
      fetch: () => installGoProgram(directory(), packagePath, version, (args, env) => run(name, 'go', args, { env })),
    },
  };
}
