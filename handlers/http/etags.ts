import { createHash } from 'node:crypto';

/** A strong entity tag of bytes that stay as they are. */
export const etagOf = (bytes: Uint8Array): string => `"${createHash('sha256').update(bytes).digest('base64url')}"`;

/** RFC 9110 section 13.1.2: by weak comparison, so a `W/` before a tag does not count. */
export function matches(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  const tags = [ifNoneMatch ?? '']
    .flat()
    .join(',')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
