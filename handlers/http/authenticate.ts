import type { FastifyRequest } from 'fastify';
import type { LiveSession } from '../../db/sessions.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import { SESSION_COOKIE } from '../cookies.js';
import { invalidToken, missingCredentials } from '../errors.js';
import type { TokenClaims } from '../security/tokens.js';
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

/** The claims of a token with a valid signature, and the session that the claims name. */
export interface VerifiedToken {
  claims: TokenClaims;
  session: Promise<LiveSession | undefined>;
}

/**
 * Verifies the signature of a request's token. Starts to read its session, but does not wait for it.
 *
 * @throws HttpError 401
 */
export async function verifyRequestToken(
  request: FastifyRequest,
  { read, tokens }: AppContext,
): Promise<VerifiedToken> {
  const token = tokenOf(request);
  if (token === undefined) throw missingCredentials();
  const claims = await tokens.verify(token);
  if (!claims) throw invalidToken();
  return { claims, session: read.session(claims.sessionId) };
}

/**
 * Returns the user who sent a request. The session is read for each request, so that a logout or a password change takes effect
 * immediately.
 *
 * @param verifiedToken the result of `verifyRequestToken` for this request, if it was called earlier
 * @throws HttpError 401
 */
export async function authenticate(
  request: FastifyRequest,
  context: AppContext,
  verifiedToken = verifyRequestToken(request, context),
): Promise<AuthenticatedUser> {
  const { claims, session: pendingSession } = await verifiedToken;
  const session = await pendingSession;
  if (!session || session.account.id !== claims.accountId || session.tokenVersion !== claims.tokenVersion) {
    throw invalidToken();
  }
  if (session.needsTouch) await context.write.touchSession(session.id).catch(ignoreUnavailable);
  return { account: session.account, sessionId: session.id };
}

/** Ignores a failed update of `last_used_at`, so that reads still work while a full disk rejects writes. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error;
}
