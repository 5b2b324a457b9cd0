import type { IncomingMessage } from 'node:http';

/**
 * Returns whether a header was sent more than once. `headers` does not show it: for most headers that may occur only once, Node
 * drops all values but the first.
 *
 * @param name in lower case
 */
export function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let found = false;
  // Names and values alternate.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index] as string;
    if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue;
    if (found) return true;
    found = true;
  }
  return false;
}
