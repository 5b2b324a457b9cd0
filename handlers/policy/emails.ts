import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

const DISPOSABLE_DOMAINS = disposableEmailBlocklistSet();

/** As in the contract, in code points. */
export const EMAIL_MAX_LENGTH = 254;

/** Trims an address and puts it in lower case. One that is too long by far is only trimmed: it is refused in any case. */
export function normalizeEmail(email: string): string {
  const trimmed = email.trim();
  return trimmed.length > 2 * EMAIL_MAX_LENGTH ? trimmed : trimmed.toLowerCase();
}

/** Whether a normalized address has a throw-away domain, or one below such a domain. */
export function isDisposable(email: string): boolean {
  // No domain name has more labels, but an address whose shape nobody has judged yet may.
  const labels = email
    .slice(email.lastIndexOf('@') + 1)
    .split('.')
    .slice(-127);
  return labels.some((_, start) => DISPOSABLE_DOMAINS.has(labels.slice(start).join('.')));
}
