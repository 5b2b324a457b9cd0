import type { Change } from './oasdiff.js';

/** By how much a version has been raised, or has to be. */
const RAISES = ['not', 'patch', 'minor', 'major'] as const;

/**
 * Whether a document's version says as much as has changed since the released one: the major number for what breaks
 * clients, at least the minor number for anything else that they can notice. Other words need no other number.
 *
 * @returns what is wrong, or undefined
 */
export function wrongVersion(released: string, current: string, changes: readonly Change[]): string | undefined {
  const raised = raise(parts(released), parts(current));
  if (raised < 0) return `info.version is ${current}, lower than the released ${released}`;
  const needed = changes.some(({ breaking }) => breaking) ? 3 : changes.length > 0 ? 2 : 0;
  if (raised >= needed) return undefined;
  return `info.version is ${current} after ${released}: this needs another ${RAISES[needed]} number`;
}

/** The index in RAISES of the first part that is higher; -1 when it is lower. */
function raise(released: readonly number[], current: readonly number[]): number {
  const first = current.findIndex((part, index) => part !== released[index]);
  if (first < 0) return 0;
  return (current[first] ?? 0) > (released[first] ?? 0) ? RAISES.length - 1 - first : -1;
}

function parts(version: string): number[] {
  const found = /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  if (!found) throw new Error(`${version} is not a version such as 1.2.3`);
  return found.slice(1).map(Number);
}
