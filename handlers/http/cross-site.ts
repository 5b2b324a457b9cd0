import type { FastifyRequest } from 'fastify';
import { hasAuthorizationHeader } from './authenticate.js';
import { crossSiteRequest } from './errors.js';

/** Methods that change nothing (RFC 9110 section 9.2.1). */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Returns whether a page of an untrusted origin, even one of the same site, sent this request through a browser. Such a page
 * cannot add an `Authorization` header, because CORS does not allow it to.
 *
 * @param trusted origins whose pages may send requests
 */
export function isFromUntrustedOrigin(request: FastifyRequest, trusted: ReadonlySet<string>): boolean {
  if (hasAuthorizationHeader(request)) return false;
  const { origin, host } = request.headers;
  if (origin !== undefined && trusted.has(origin)) return false;
  const fetchSite = request.headers['sec-fetch-site'];
  if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none';
  return origin !== undefined && !isOriginOfHost(origin, host);
}

/**
 * Refuses requests of untrusted origins with an unsafe method (CSRF). CORS alone does not stop them: forms and requests without
 * a body need no preflight.
 *
 * @throws HttpError 403
 */
export function refuseCrossSite(request: FastifyRequest, trusted: ReadonlySet<string>): void {
  if (SAFE_METHODS.has(request.method)) return;
  if (isFromUntrustedOrigin(request, trusted)) throw crossSiteRequest();
}

const isOriginOfHost = (origin: string, host: string | undefined) =>
  Boolean(host) && URL.canParse(origin) && new URL(origin).host === host;
