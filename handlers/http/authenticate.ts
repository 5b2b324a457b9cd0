import type { FastifyRequest } from 'fastify';
import type { App, Caller } from '../app.js';
import { unauthorized } from './errors.js';

export const SESSION_COOKIE = 'fc_session_token';

/** RFC 6750 section 2.1. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/** The token of a request. A header that is there decides, whatever it holds: a bad one is not rescued by a good cookie. */
function tokenOf(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  return authorization === undefined ? request.cookies[SESSION_COOKIE] : BEARER.exec(authorization)?.[1];
}

export const hasHeaderCredentials = (request: FastifyRequest): boolean => request.headers.authorization !== undefined;

/**
 * Finds whose request it is. The session row decides at every request, so that a logout or a password change holds at once.
 *
 * @throws HttpError 401
 */
export async function authenticate(request: FastifyRequest, { read, write, tokens }: App): Promise<Caller> {
  const token = tokenOf(request);
  const claims = token === undefined ? undefined : await tokens.verify(token);
  const session = claims && (await read.session(claims.sessionId));
  if (!session || session.account.id !== claims.accountId || session.tokenVersion !== claims.tokenVersion) {
    throw unauthorized();
  }
  if (session.lagging) await write.touchSession(session.id);
  return { account: session.account, sessionId: session.id };
}
