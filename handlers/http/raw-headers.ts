import type { IncomingMessage } from 'node:http';

/**
 * Returns whether a header was sent more than once. `headers` does not tell: there Node keeps the first value and drops the
 * others.
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
