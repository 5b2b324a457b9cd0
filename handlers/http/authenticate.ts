import type { FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../db/support/errors.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import { missingCredentials, unauthorized } from './errors.js';
import { isRepeated } from './raw-headers.js';

export const SESSION_COOKIE = 'fc_session_token';

/** RFC 6750 section 2.1. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/** A session cookie at the start of a `Cookie` header or behind a separator. */
const COOKIE_NAMES = new RegExp(`(?:^|;)[ \\t]*${SESSION_COOKIE}[ \\t]*=`, 'g');

/**
 * Returns the token that a request was sent with, undefined if there is none. The header takes precedence, whatever it
 * contains: a bad header is not rescued by a good cookie.
 *
 * @throws HttpError 401
 */
function tokenOf(request: FastifyRequest): string | undefined {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined) {
    const token = BEARER.exec(authorization)?.[1];
    // The other one may be another user's: which of them was meant is not for the service to guess.
    if (isRepeated(request.raw, 'authorization')) throw unauthorized();
    if (token === undefined && /^bearer\b/i.test(authorization)) throw unauthorized();
    return token;
  }
  if (cookie !== undefined && hasTwoSessionCookies(cookie)) throw unauthorized();
  return request.cookies[SESSION_COOKIE] || undefined;
}

/** Counts exactly only if the name occurs twice, which it hardly ever does. */
const hasTwoSessionCookies = (cookie: string) =>
  cookie.indexOf(SESSION_COOKIE) !== cookie.lastIndexOf(SESSION_COOKIE) &&
  (cookie.match(COOKIE_NAMES)?.length ?? 0) > 1;

export const hasHeaderCredentials = (request: FastifyRequest): boolean => request.headers.authorization !== undefined;

/**
 * Finds whose request it is. The session row decides at every request, so that a logout or a password change holds at once.
 *
 * @throws HttpError 401
 */
export async function authenticate(
  request: FastifyRequest,
  { read, write, tokens }: AppContext,
): Promise<AuthenticatedUser> {
  const token = tokenOf(request);
  if (token === undefined) throw missingCredentials();
  const claims = await tokens.verify(token);
  const session = claims && (await read.session(claims.sessionId));
  if (!session || session.account.id !== claims.accountId || session.tokenVersion !== claims.tokenVersion) {
    throw unauthorized();
  }
  if (session.lagging) await write.touchSession(session.id).catch(ignoreUnavailable);
  return { account: session.account, sessionId: session.id };
}

/** A disk that is full takes no writes, and still serves reads: `last_used_at` lags then. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error;
}
