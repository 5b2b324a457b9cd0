import type { IncomingMessage } from 'node:http';

/**
 * Returns whether a header was sent more than once. `headers` does not show this, because Node keeps only the first value
 * of most headers that must not be repeated.
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
