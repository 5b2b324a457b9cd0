const MAX_LENGTH = 255;

/** What a session is listed as: the request's `User-Agent`, made fit to show. */
export function deviceName(userAgent: string | string[] | undefined): string {
  const shown = [userAgent ?? '']
    .flat()
    .join(' ')
    .replace(/\p{Cc}/gu, '')
    .trim();
  return [...shown].slice(0, MAX_LENGTH).join('') || 'Unknown device';
}
