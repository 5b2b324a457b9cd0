const MAX_CHARACTERS = 255;

/** Returns the name under which a session is listed: the `User-Agent` header, trimmed, without control characters. */
export function deviceName(userAgent: string | string[] | undefined): string {
  const printable = [userAgent ?? '']
    .flat()
    .join(' ')
    .replace(/\p{Cc}/gu, '')
    .trim();
  return [...printable].slice(0, MAX_CHARACTERS).join('') || 'Unknown device';
}
