import { type Credentials, createAccount, findCredentials, replacePasswordHash } from '../db/accounts.js';
import { createSession, deleteOtherSessions, deleteSession, listSessions, trimSessions } from '../db/sessions.js';
import type { AuthHandlers } from '../generated/handlers.js';
import type { AppContext, AuthenticatedUser } from './context.js';
import { clearedSessionCookie, sessionCookie } from './cookies.js';
import { errorResponse, fieldTaken, invalidToken, unauthorizedResponse } from './errors.js';
import type { Client, Handlers } from './operation.js';
import { deviceNameOf } from './policy/device-name.js';
import { EMAIL_MAX_LENGTH } from './policy/emails.js';
import { logSecurityEvent } from './security/events.js';
import { subjectOf } from './security/failed-passwords.js';
import { checkPassword } from './security/password-check.js';
import { hashPassword, needsRehash } from './security/password-hashing.js';
import { accountView, sessionView } from './views.js';

export const auth: AuthHandlers<Handlers> = {
  async register({ body: { name, username, email, password }, client }, context) {
    const passwordHash = await hashPassword(password, { lane: 'unauthenticated', signal: client.signal });
    const created = await createAccount(context, { name, username, email, passwordHash });
    if (created.outcome === 'taken') return fieldTaken(created.field);
    logSecurityEvent(client.log, 'account_created', { accountId: created.id, address: client.address });
    return { status: 201, headers: { Location: `/profiles/${created.id}` }, body: { id: created.id } };
  },

  async login({ body: { email, password }, headers, client }, context) {
    const credentials = await checkCredentials(context, client, email, password);
    // Rounded down to seconds, because tokens and cookies have a resolution of one second.
    const expiresAt = new Date((Math.floor(Date.now() / 1000) + context.config.tokenTtlSeconds) * 1000);
    const sessionId =
      credentials &&
      (await createSession(context.db, credentials, { deviceName: deviceNameOf(headers['user-agent']), expiresAt }));
    if (!credentials || !sessionId)
      return unauthorizedResponse('invalid_credentials', 'The email or password is wrong.');

    const claims = { accountId: credentials.id, sessionId, tokenVersion: credentials.tokenVersion };
    const token = await context.tokens.issue(claims, expiresAt);
    const endedSessions = await trimSessions(context.db, credentials.id, sessionId, context.config.account.sessionsMax);
    const details = { accountId: credentials.id, address: client.address };
    logSecurityEvent(client.log, 'login_succeeded', details);
    if (endedSessions > 0) logSecurityEvent(client.log, 'session_ended', { ...details, reason: 'session_limit' });
    return {
      status: 200,
      headers: sessionCookie(context, client, token, expiresAt),
      body: { id: credentials.id, token, expires_at: expiresAt.toISOString() },
    };
  },

  async getCurrentAccount({ user }) {
    return { status: 200, body: accountView(user.account) };
  },

  async verifySession({ user }) {
    return { status: 200, body: accountView(user.account) };
  },

  async logout({ user, client }, context) {
    if (!(await deleteSession(context.db, user.account.id, user.sessionId))) throw invalidToken();
    logSessionEnded(user, client, 'logout');
    return { status: 200, headers: clearedSessionCookie(context, client), body: { message: 'You are logged out.' } };
  },

  async listSessions({ user }, { db }) {
    const sessions = await listSessions(db, user.account.id, user.sessionId);
    return { status: 200, body: sessions.map((session) => sessionView(session, user.sessionId)) };
  },

  // In the contract, the 400 also covers a session that cannot be identified. That case cannot occur here, because a request is
  // authenticated by its session.
  async deleteOtherSessions({ user, client }, { db }) {
    await deleteOtherSessions(db, user.account.id, user.sessionId);
    logSessionEnded(user, client, 'others_deleted');
    return { status: 200, body: { message: 'All your other sessions have ended.' } };
  },

  async deleteSession({ user, path, client }, context) {
    if (!(await deleteSession(context.db, user.account.id, path.id))) {
      return errorResponse('not_found', 'You have no such session.');
    }
    logSessionEnded(user, client, 'deleted');
    return {
      status: 200,
      ...(path.id === user.sessionId && { headers: clearedSessionCookie(context, client) }),
      body: { message: 'The session has ended.' },
    };
  },
};

/**
 * Returns the credentials of an account, or undefined if the email address or password is wrong. The response time does not
 * reveal whether an account has this email address. If the stored hash has outdated parameters, it is replaced.
 */
async function checkCredentials(
  context: AppContext,
  client: Client,
  email: string,
  password: string,
): Promise<Credentials | undefined> {
  // Limits the size of the query. The truncated address is still longer than any valid address, so it matches no account.
  const truncatedEmail = email.slice(0, EMAIL_MAX_LENGTH + 1);
  const credentials = await findCredentials(context.db, { email: truncatedEmail });
  const matches = await checkPassword(context, client, {
    credentials,
    email: truncatedEmail,
    password,
    lane: 'unauthenticated',
  });
  if (!credentials || !matches) return undefined;
  if (needsRehash(credentials.passwordHash)) {
    const options = { lane: 'unauthenticated', key: subjectOf(credentials), signal: client.signal } as const;
    // If this fails, for example because the queue is full, the login succeeds nevertheless, and the next login tries again.
    await hashPassword(password, options)
      .then((hash) => replacePasswordHash(context.db, credentials, hash))
      .catch((err) => client.log.info({ err }, 'password hash not replaced'));
  }
  return credentials;
}

function logSessionEnded(
  { account }: AuthenticatedUser,
  { log, address }: Client,
  reason: 'logout' | 'deleted' | 'others_deleted',
): void {
  logSecurityEvent(log, 'session_ended', { accountId: account.id, address, reason });
}
