import type { Change } from './oasdiff.js';

/** Version increments, from none to major. */
const VERSION_BUMPS = ['none', 'patch', 'minor', 'major'] as const;

/**
 * Checks that the version number reflects the changes since the last release: a new major version for breaking changes, at
 * least a new minor version for anything else that clients can notice.
 *
 * @returns a message if the version number is wrong
 */
export function versionProblem(released: string, current: string, changes: readonly Change[]): string | undefined {
  const bump = findBump(parseVersion(released), parseVersion(current));
  if (bump < 0) return `info.version is ${current}, lower than the released ${released}`;
  const needed = changes.some(({ breaking }) => breaking) ? 3 : changes.length > 0 ? 2 : 0;
  if (bump >= needed) return undefined;
  return `info.version is ${current}, and ${released} was released: the changes need a new ${VERSION_BUMPS[needed]} version`;
}

/** Returns the kind of increment as an index into VERSION_BUMPS, or -1 if the current version is lower. */
function findBump(released: readonly number[], current: readonly number[]): number {
  const first = current.findIndex((part, index) => part !== released[index]);
  if (first < 0) return 0;
  return (current[first] ?? 0) > (released[first] ?? 0) ? VERSION_BUMPS.length - 1 - first : -1;
}

function parseVersion(version: string): number[] {
  const match = /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  if (!match) throw new Error(`Expected a version such as 1.2.3, not ${version}`);
  return match.slice(1).map(Number);
}
