import { isUtf8 } from 'node:buffer';

const MAX_CODE_POINTS = 255;

/**
 * Returns the device name of a session: the `User-Agent` of its login without control characters, trimmed and truncated. Node
 * decodes headers as Latin-1. If the bytes are valid UTF-8, they are decoded again.
 */
export function deviceNameOf(userAgent: string | undefined): string {
  const latin1 = userAgent ?? '';
  const bytes = Buffer.from(latin1, 'latin1');
  const printable = (isUtf8(bytes) ? bytes.toString() : latin1).replace(/\p{Cc}/gu, '').trim();
  return [...printable].slice(0, MAX_CODE_POINTS).join('') || 'Unknown device';
}
