import type { FastifyRequest } from 'fastify';
import { crossSiteRequest } from '../errors.js';

/*
 * Protection against cross-site request forgery (CSRF). Requests with an unsafe method are refused if a page of an untrusted
 * origin sent them.
 *
 * `SameSite=Lax` alone is not enough: a browser sends the cookie with requests from other origins of the same site, such as
 * another subdomain, and a forged login needs no cookie. CORS is not enough either: forms, and POST requests without a body,
 * need no preflight.
 */

/** Methods that change nothing (RFC 9110 section 9.2.1). */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Returns whether a browser sent this request for a page of an untrusted origin, which may even belong to the same site. A
 * request with an `Authorization` header is not from such a page, because CORS does not allow the page to add the header.
 *
 * @param trusted the origins whose pages may send requests
 */
export function isFromUntrustedOrigin({ headers }: FastifyRequest, trusted: ReadonlySet<string>): boolean {
  const { authorization, origin, host, 'sec-fetch-site': fetchSite } = headers;
  if (authorization !== undefined) return false;
  if (origin !== undefined && trusted.has(origin)) return false;
  if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none';
  return origin !== undefined && !isOriginOfHost(origin, host);
}

/** Throws HttpError 403 if a page of an untrusted origin sent a request with an unsafe method. */
export function refuseCrossSite(request: FastifyRequest, trusted: ReadonlySet<string>): void {
  if (SAFE_METHODS.has(request.method)) return;
  if (isFromUntrustedOrigin(request, trusted)) throw crossSiteRequest();
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '');

/** Returns whether an origin has the host and port of a `Host` header. Its port defaults to that of the origin's scheme. */
const isOriginOfHost = (origin: string, host = '') =>
  hostOf(origin) !== '' && hostOf(origin) === hostOf(`${origin.split('//', 1)}//${host}`);
