import type { FastifyRequest } from 'fastify';
import { hasHeaderCredentials } from './authenticate.js';
import { forbidden } from './errors.js';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Returns whether a page of another, untrusted site has a browser send this request. A page cannot add an `Authorization`
 * header without the service's consent, so a request with one is never such a request.
 *
 * @param trusted the origins whose pages may call the service
 */
export function isCrossSite(request: FastifyRequest, trusted: ReadonlySet<string>): boolean {
  if (hasHeaderCredentials(request)) return false;
  const { origin, host } = request.headers;
  if (origin !== undefined && trusted.has(origin)) return false;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !isOf(host, origin);
}

/**
 * Refuses an unsafe request that a page of another site has a browser make. Forms and posts without a body need no
 * preflight, so CORS alone does not stop them.
 *
 * @throws HttpError 403
 */
export function refuseCrossSite(request: FastifyRequest, trusted: ReadonlySet<string>): void {
  if (SAFE.has(request.method)) return;
  if (isCrossSite(request, trusted)) throw forbidden('A page of another site cannot send this request.');
}

const isOf = (host: string | undefined, origin: string) =>
  Boolean(host) && URL.canParse(origin) && new URL(origin).host === host;
