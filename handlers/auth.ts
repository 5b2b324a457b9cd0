import { createAccount, findSecret, replaceHash, type Secret } from '../db/accounts.js';
import { createSession, deleteOtherSessions, deleteSession, listSessions } from '../db/sessions.js';
import type { App, Handlers } from './app.js';
import { deviceName } from './device-name.js';
import { clearedSessionCookie, sessionCookie } from './http/cookies.js';
import { unauthorized } from './http/errors.js';
import { hashPassword, needsRehash, verifyNothing, verifyPassword } from './password-hash.js';
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
  async register({ body: { name, username, email, password } }, { db, outbox }) {
    const created = await createAccount(db, { name, username, email, passwordHash: await hashPassword(password) });
    if (!created) return { status: 409, body: { message: 'The username or email is already in use.' } };
    await outbox.deliver(created.entries);
    return { status: 201, body: { id: created.id } };
  },

  async login({ body: { email, password }, headers }, app) {
    const secret = await checkCredentials(app, email, password);
    // Whole seconds, as the token can say no less.
    const expiresAt = new Date((Math.floor(Date.now() / 1000) + app.config.tokenTtl) * 1000);
    const sessionId =
      secret && (await createSession(app, secret, { deviceName: deviceName(headers['user-agent']), expiresAt }));
    if (!secret || !sessionId) throw unauthorized('The email or password is wrong.');

    const claims = { accountId: secret.id, sessionId, tokenVersion: secret.tokenVersion };
    const token = await app.tokens.issue(claims, expiresAt);
    return {
      status: 200,
      headers: sessionCookie(app, token, expiresAt),
      body: { id: secret.id, token, expires_at: expiresAt.toISOString() },
    };
  },

  async getCurrentAccount({ caller }) {
    return { status: 200, body: accountView(caller.account) };
  },

  async verifySession({ caller }) {
    return { status: 200, body: accountView(caller.account) };
  },

  async logout({ caller }, app) {
    if (!(await deleteSession(app.db, caller.account.id, caller.sessionId))) throw unauthorized();
    return { status: 200, headers: clearedSessionCookie(app), body: { message: 'You are logged out.' } };
  },

  async listSessions({ caller }, { db }) {
    const sessions = await listSessions(db, caller.account.id, caller.sessionId);
    return { status: 200, body: sessions.map((session) => sessionView(session, caller.sessionId)) };
  },

  async deleteOtherSessions({ caller }, { db }) {
    await deleteOtherSessions(db, caller.account.id, caller.sessionId);
    return { status: 200, body: { message: 'All your other sessions have ended.' } };
  },

  async deleteSession({ caller, path }, app) {
    if (!(await deleteSession(app.db, caller.account.id, path.id))) {
      return { status: 404, body: { message: 'You have no such session.' } };
    }
    return {
      status: 200,
      ...(path.id === caller.sessionId && { headers: clearedSessionCookie(app) }),
      body: { message: 'The session has ended.' },
    };
  },
};

/** Takes the same time whether or not anybody has this address. */
async function checkCredentials({ db }: App, email: string, password: string): Promise<Secret | undefined> {
  const secret = await findSecret(db, { email });
  if (!secret) {
    await verifyNothing(password);
    return undefined;
  }
  if (!(await verifyPassword(secret.passwordHash, password))) return undefined;
  if (needsRehash(secret.passwordHash)) await replaceHash(db, secret, await hashPassword(password));
  return secret;
}
