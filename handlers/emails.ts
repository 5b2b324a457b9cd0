import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

const DISPOSABLE_DOMAINS = disposableEmailBlocklistSet();

export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
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
