import { join, resolve } from 'node:path';

/** Returns a path in the directory of downloaded development tools: `TOOLS_DIR`, or `.tools` in the working directory. */
export function toolsFolder(...path: string[]): string {
  return join(resolve(process.env.TOOLS_DIR || '.tools'), ...path);
}
