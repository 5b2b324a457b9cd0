import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The version of the service, from `package.json`. */
export const VERSION: string = createRequire(import.meta.url)('#package.json').version;

/** The commit from which the service was built, or `unknown`. `npm run build` writes it to the folder of the build. */
export const COMMIT = readCommit();

function readCommit(): string {
  try {
    return readFileSync(new URL('../commit', import.meta.url), 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
