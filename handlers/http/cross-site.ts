import type { FastifyRequest } from 'fastify';
import { hasHeaderCredentials } from './authenticate.js';
import { forbidden } from './errors.js';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses an unsafe request that a page of another site has a browser make with its user's cookie. Forms and bodiless posts
 * need no preflight, so CORS alone does not stop them.
 *
 * @param trusted the origins whose pages may call the service
 * @throws HttpError 403
 */
export function refuseCrossSite(request: FastifyRequest, trusted: ReadonlySet<string>): void {
  if (SAFE.has(request.method) || hasHeaderCredentials(request)) return;
  const { origin, host } = request.headers;
  if (origin !== undefined && trusted.has(origin)) return;
  const site = request.headers['sec-fetch-site'];
  const passes =
    site !== undefined ? site === 'same-origin' || site === 'none' : origin === undefined || isOf(host, origin);
  if (!passes) throw forbidden('A page of another site cannot do this with your session cookie.');
}

const isOf = (host: string | undefined, origin: string) =>
  Boolean(host) && URL.canParse(origin) && new URL(origin).host === host;
