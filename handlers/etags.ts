import { createHash } from 'node:crypto';

/** Returns a strong entity tag for these bytes. */
export const etagOf = (bytes: Uint8Array): string => `"${createHash('sha256').update(bytes).digest('base64url')}"`;

/**
 * Returns whether `If-None-Match` is `*` or contains this entity tag. The comparison is weak: it ignores `W/` (RFC 9110 section
 * 13.1.2).
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === '*') return true;
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag);
}
