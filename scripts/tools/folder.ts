import { join, resolve } from 'node:path';

/** The one folder for programs that are fetched to check the project with: `TOOLS_DIR`, or `.tools` in the working directory. */
export function toolsFolder(...path: string[]): string {
  return join(resolve(process.env.TOOLS_DIR || '.tools'), ...path);
}
