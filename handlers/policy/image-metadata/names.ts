/*
 * Compares bytes with names. A file may have a million chunks or segments. Comparing numbers is then several times as fast as
 * creating a string for each of them.
 */

/** Returns a type of four characters as an integer, as `readInt32BE` does. */
export const fourCC = (type: string): number => Buffer.from(type, 'latin1').readInt32BE();

export const fourCCs = (...types: string[]): ReadonlySet<number> => new Set(types.map(fourCC));

/** Returns whether the bytes from `at` on begin with a name of ASCII characters. */
export function hasName(bytes: Buffer, at: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if (bytes[at + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}
