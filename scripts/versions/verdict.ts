import type { Change } from './oasdiff.js';

/** Version increments, from none to major. */
const VERSION_BUMPS = ['none', 'patch', 'minor', 'major'] as const;

/**
 * Checks that the version number reflects the changes since the last release: a new major version for breaking changes, at
 * least a new minor version for anything else that clients can notice.
 *
 * @returns why the version is wrong, or undefined
 */
export function versionProblem(released: string, current: string, changes: readonly Change[]): string | undefined {
  const bump = bumpBetween(parts(released), parts(current));
  if (bump < 0) return `info.version is ${current}, lower than the released ${released}`;
  const needed = changes.some(({ breaking }) => breaking) ? 3 : changes.length > 0 ? 2 : 0;
  if (bump >= needed) return undefined;
  return `info.version is ${current}, released was ${released}: the changes need a new ${VERSION_BUMPS[needed]} version`;
}

/** Returns the increment as an index into VERSION_BUMPS, or -1 if the current version is lower. */
function bumpBetween(released: readonly number[], current: readonly number[]): number {
  const first = current.findIndex((part, index) => part !== released[index]);
  if (first < 0) return 0;
  return (current[first] ?? 0) > (released[first] ?? 0) ? VERSION_BUMPS.length - 1 - first : -1;
}

function parts(version: string): number[] {
  const found = /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  if (!found) throw new Error(`${version} is not a version such as 1.2.3`);
  return found.slice(1).map(Number);
}
