import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

const DISPOSABLE_DOMAINS = disposableEmailBlocklistSet();

/** The `maxLength` of the OpenAPI schema, in code points. */
export const EMAIL_MAX_LENGTH = 254;

/**
 * Trims an address and converts it to lower case. Does not convert an address that is far too long, because it is rejected
 * anyway.
 */
export function normalizeEmail(email: string): string {
  const trimmed = email.trim();
  // Only ASCII letters, because the Kelvin sign (U+212A) becomes an ASCII k, and the address would pass as ASCII.
  return trimmed.length > 2 * EMAIL_MAX_LENGTH
    ? trimmed
    : trimmed.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns whether the domain of a normalized address is disposable or a subdomain of a disposable domain. */
export function isDisposable(email: string): boolean {
  // Bounds the work for malformed addresses: a domain name has at most 127 labels.
  const labels = email
    .slice(email.lastIndexOf('@') + 1)
    .split('.')
    .slice(-127);
  return labels.some((_, start) => DISPOSABLE_DOMAINS.has(labels.slice(start).join('.')));
}
