import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { GO_INSTALL_HINT, installGoProgram } from '../tools/go.js';
import { folder } from './folder.js';
import { run, type Tool, tool } from './tools.js';

/** Returns the download methods of a server that is built with `go install`. */
export function goProgram(name: string, source: string, version: string) {
  const home = () => folder(name, version);
  return {
    binary: () => join(home(), basename(source)),
    isFetched: () => existsSync(home()),
    tools: (): Tool[] => (existsSync(home()) ? [] : [tool('go', GO_INSTALL_HINT)]),
    fetch: () => installGoProgram(home(), source, version, (args, env) => run(name, 'go', args, { env })),
  };
}
