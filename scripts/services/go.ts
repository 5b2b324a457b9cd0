import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { GET_GO, installGoProgram } from '../tools/go.js';
import { folder } from './folder.js';
import { run, type Tool, tool } from './tools.js';

/** A server that Go's own command fetches and builds. */
export function goProgram(who: string, source: string, version: string) {
  const home = () => folder(who, version);
  return {
    binary: () => join(home(), basename(source)),
    fetched: () => existsSync(home()),
    tools: (): Tool[] => (existsSync(home()) ? [] : [tool('go', GET_GO)]),
    fetch: () => installGoProgram(home(), source, version, (args, env) => run(who, 'go', args, { env })),
  };
}
