const MAX_CODE_POINTS = 255;

/** Returns the device name of a session: the `User-Agent` of its login without control characters, trimmed and truncated. */
export function deviceNameOf(userAgent: string | undefined): string {
  const printable = (userAgent ?? '').replace(/\p{Cc}/gu, '').trim();
  return [...printable].slice(0, MAX_CODE_POINTS).join('') || 'Unknown device';
}
