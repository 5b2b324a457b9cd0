import type { FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../db/support/errors.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import { SESSION_COOKIE } from '../cookies.js';
import { invalidToken, missingCredentials } from '../errors.js';
import { isRepeated } from './raw-headers.js';

/** Bearer credentials (RFC 6750 section 2.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/** Matches each session cookie in a `Cookie` header, up to the equals sign. */
const SESSION_COOKIE_NAMES = new RegExp(`(?:^|;)[ \\t]*${SESSION_COOKIE}[ \\t]*=`, 'g');

/**
 * Returns the token of a request, or undefined if it has no token. If there is an `Authorization` header, the session cookie is
 * ignored, even if the header is invalid.
 *
 * @throws HttpError 401
 */
function tokenOf(request: FastifyRequest): string | undefined {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined) {
    const token = BEARER.exec(authorization)?.[1];
    // Repeated headers may contain the credentials of different users.
    if (isRepeated(request.raw, 'authorization')) throw invalidToken();
    if (token === undefined && /^bearer\b/i.test(authorization)) throw invalidToken();
    return token;
  }
  if (cookie !== undefined && hasRepeatedSessionCookie(cookie)) throw invalidToken();
  return request.cookies[SESSION_COOKIE] || undefined;
}

/** Returns whether a `Cookie` header has several session cookies. Runs the slow regular expression only if that is possible. */
const hasRepeatedSessionCookie = (cookie: string) =>
  cookie.indexOf(SESSION_COOKIE) !== cookie.lastIndexOf(SESSION_COOKIE) &&
  (cookie.match(SESSION_COOKIE_NAMES)?.length ?? 0) > 1;

/**
 * Returns the user who sent a request. The session is read for each request, so that a logout or a password change takes effect
 * immediately.
 *
 * @throws HttpError 401
 */
export async function authenticate(
  request: FastifyRequest,
  { tokens, read, write }: AppContext,
): Promise<AuthenticatedUser> {
  const token = tokenOf(request);
  if (token === undefined) throw missingCredentials();
  const claims = await tokens.verify(token);
  const session = claims && (await read.session(claims.sessionId));
  if (!session || session.account.id !== claims.accountId || session.tokenVersion !== claims.tokenVersion) {
    throw invalidToken();
  }
  if (session.needsTouch) await write.touchSession(session.id).catch(ignoreUnavailable);
  return { account: session.account, sessionId: session.id };
}

/** Ignores a failed update of `last_used_at`, so that reads still work while a full disk rejects writes. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error;
}
