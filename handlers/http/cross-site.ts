import type { FastifyRequest } from 'fastify';
import { hasAuthorizationHeader } from './authenticate.js';
import { forbidden } from './errors.js';

/** RFC 9110 section 9.2.1. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Returns whether a page of an untrusted site sent this request through a browser. Such a page cannot add an `Authorization`
 * header, because CORS does not allow it to.
 *
 * @param trusted origins whose pages may call the service
 */
export function isCrossSite(request: FastifyRequest, trusted: ReadonlySet<string>): boolean {
  if (hasAuthorizationHeader(request)) return false;
  const { origin, host } = request.headers;
  if (origin !== undefined && trusted.has(origin)) return false;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !hasHost(origin, host);
}

/**
 * Refuses unsafe cross-site requests (CSRF). Forms and requests without a body need no preflight, so CORS alone does not stop
 * them.
 *
 * @throws HttpError 403
 */
export function refuseCrossSite(request: FastifyRequest, trusted: ReadonlySet<string>): void {
  if (SAFE_METHODS.has(request.method)) return;
  if (isCrossSite(request, trusted)) throw forbidden('A page of another site cannot send this request.');
}

const hasHost = (origin: string, host: string | undefined) =>
  Boolean(host) && URL.canParse(origin) && new URL(origin).host === host;
