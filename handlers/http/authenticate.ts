import type { FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../db/support/errors.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import { missingCredentials, unauthorized } from './errors.js';
import { isRepeated } from './raw-headers.js';

export const SESSION_COOKIE = 'fc_session_token';

/** Bearer credentials (RFC 6750 section 2.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/** A session cookie at the start of a `Cookie` header or after a separator. */
const COOKIE_NAMES = new RegExp(`(?:^|;)[ \\t]*${SESSION_COOKIE}[ \\t]*=`, 'g');

/**
 * Returns the token of a request, or undefined if it has none. An `Authorization` header takes precedence even if it is
 * invalid: the session cookie is not a fallback for it.
 *
 * @throws HttpError 401
 */
function tokenOf(request: FastifyRequest): string | undefined {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined) {
    const token = BEARER.exec(authorization)?.[1];
    // The two tokens may belong to different users.
    if (isRepeated(request.raw, 'authorization')) throw unauthorized();
    if (token === undefined && /^bearer\b/i.test(authorization)) throw unauthorized();
    return token;
  }
  if (cookie !== undefined && hasTwoSessionCookies(cookie)) throw unauthorized();
  return request.cookies[SESSION_COOKIE] || undefined;
}

/** Runs the regular expression only if the name occurs twice, which is rare. */
const hasTwoSessionCookies = (cookie: string) =>
  cookie.indexOf(SESSION_COOKIE) !== cookie.lastIndexOf(SESSION_COOKIE) &&
  (cookie.match(COOKIE_NAMES)?.length ?? 0) > 1;

export const hasAuthorizationHeader = (request: FastifyRequest): boolean => request.headers.authorization !== undefined;

/**
 * Returns the user who sent the request. Reads the session on every request, so that a logout or a password change takes
 * effect immediately.
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
  if (session.needsTouch) await write.touchSession(session.id).catch(ignoreUnavailable);
  return { account: session.account, sessionId: session.id };
}

/** A full disk rejects writes but still serves reads: `last_used_at` then lags. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error;
}
