import { createAccount, findSecret, replaceHash, type Secret } from '../db/accounts.js';
import { createSession, deleteOtherSessions, deleteSession, listSessions, trimSessions } from '../db/sessions.js';
import type { Client } from '../generated/handlers.js';
import type { App, Caller, Handlers } from './context.js';
import { clearedSessionCookie, sessionCookie } from './http/cookies.js';
import { unauthorized } from './http/errors.js';
import { deviceName } from './policy/device-name.js';
import { EMAIL_MAX_LENGTH } from './policy/emails.js';
import { logSecurityEvent } from './security/events.js';
import { subjectOf } from './security/failed-passwords.js';
import { checkPassword } from './security/password-check.js';
import { hashPassword, needsRehash } from './security/password-hashing.js';
import { accountView, sessionView } from './views.js';

type AuthHandlers = Pick<
  Handlers,
  | 'register'
  | 'login'
  | 'getCurrentAccount'
  | 'verifySession'
  | 'logout'
  | 'listSessions'
  | 'deleteOtherSessions'
  | 'deleteSession'
>;

export const auth: AuthHandlers = {
  async register({ body: { name, username, email, password }, client }, { db, outbox }) {
    const passwordHash = await hashPassword(password, { lane: 'login', signal: client.signal });
    const created = await createAccount(db, { name, username, email, passwordHash });
    if (!created) return { status: 409, body: { message: 'The username or email is already in use.' } };
    await outbox.deliver(created.entries);
    return { status: 201, body: { id: created.id } };
  },

  async login({ body: { email, password }, headers, client }, app) {
    const secret = await checkCredentials(app, client, email, password);
    // Whole seconds, as the token can say no less.
    const expiresAt = new Date((Math.floor(Date.now() / 1000) + app.config.tokenTtl) * 1000);
    const session =
      secret && (await createSession(app, secret, { deviceName: deviceName(headers['user-agent']), expiresAt }));
    if (!secret || !session) throw unauthorized('The email or password is wrong.');

    const claims = { accountId: secret.id, sessionId: session.id, tokenVersion: secret.tokenVersion };
    const token = await app.tokens.issue(claims, expiresAt);
    const ended = await trimSessions(app.db, secret.id, session, app.config.account.sessionsMax);
    const details = { accountId: secret.id, address: client.address };
    logSecurityEvent(client.log, 'login_succeeded', details);
    if (ended > 0) logSecurityEvent(client.log, 'session_ended', { ...details, reason: 'session_limit' });
    return {
      status: 200,
      headers: sessionCookie(app, client, token, expiresAt),
      body: { id: secret.id, token, expires_at: expiresAt.toISOString() },
    };
  },

  async getCurrentAccount({ caller }) {
    return { status: 200, body: accountView(caller.account) };
  },

  async verifySession({ caller }) {
    return { status: 200, body: accountView(caller.account) };
  },

  async logout({ caller, client }, app) {
    if (!(await deleteSession(app.db, caller.account.id, caller.sessionId))) throw unauthorized();
    logSessionEnded(caller, client, 'logout');
    return { status: 200, headers: clearedSessionCookie(app, client), body: { message: 'You are logged out.' } };
  },

  async listSessions({ caller }, { db }) {
    const sessions = await listSessions(db, caller.account.id, caller.sessionId);
    return { status: 200, body: sessions.map((session) => sessionView(session, caller.sessionId)) };
  },

  async deleteOtherSessions({ caller, client }, { db }) {
    await deleteOtherSessions(db, caller.account.id, caller.sessionId);
    logSessionEnded(caller, client, 'others_deleted');
    return { status: 200, body: { message: 'All your other sessions have ended.' } };
  },

  async deleteSession({ caller, path, client }, app) {
    if (!(await deleteSession(app.db, caller.account.id, path.id))) {
      return { status: 404, body: { message: 'You have no such session.' } };
    }
    logSessionEnded(caller, client, 'deleted');
    return {
      status: 200,
      ...(path.id === caller.sessionId && { headers: clearedSessionCookie(app, client) }),
      body: { message: 'The session has ended.' },
    };
  },
};

/** Takes the same time whether or not anybody has this address. */
async function checkCredentials(
  app: App,
  client: Client,
  email: string,
  password: string,
): Promise<Secret | undefined> {
  // No account has a longer address than this, and none is found by what remains of one.
  const address = email.slice(0, EMAIL_MAX_LENGTH + 1);
  const secret = await findSecret(app.db, { email: address });
  const matches = await checkPassword(app, client, { secret, email: address, password, lane: 'login' });
  if (!secret || !matches) return undefined;
  if (needsRehash(secret.passwordHash)) {
    const turn = { lane: 'login', key: subjectOf(secret), signal: client.signal } as const;
    await replaceHash(app.db, secret, await hashPassword(password, turn));
  }
  return secret;
}

function logSessionEnded(
  { account }: Caller,
  { log, address }: Client,
  reason: 'logout' | 'deleted' | 'others_deleted',
): void {
  logSecurityEvent(log, 'session_ended', { accountId: account.id, address, reason });
}
