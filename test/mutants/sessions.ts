import type { Mutant } from './mutant.js';

/** Credentials that are worth more, or say less, than they should. */
export const sessions: Mutant[] = [
  {
    breach: 'a token outlives its logout',
    file: 'handlers/auth.js',
    find: 'if (!await deleteSession(app.db, caller.account.id, caller.sessionId)) throw unauthorized();',
    replace: '',
    caughtBy: ['Authentication 5: Logout invalidates'],
  },
  {
    breach: 'a token outlives the deletion of its session',
    file: 'handlers/auth.js',
    find: 'if (!await deleteSession(app.db, caller.account.id, path.id)) {',
    replace: 'if (path.id.length < 30) {',
    caughtBy: ['Authentication 5: deletion of a session invalidates'],
  },
  {
    breach: 'tokens outlive a password change',
    file: 'db/accounts.js',
    find: `token_version: old.token_version + 1 },
    id
  }).where("id", "=", id).returning(ACCOUNT_COLUMNS).executeTakeFirstOrThrow();
  if (password) await trx.deleteFrom("sessions").where("account_id", "=", id).execute();`,
    replace: `token_version: old.token_version },
    id
  }).where("id", "=", id).returning(ACCOUNT_COLUMNS).executeTakeFirstOrThrow();`,
    caughtBy: ['Session: password change'],
  },
  {
    breach: 'the token version stays the same',
    file: 'db/accounts.js',
    find: 'token_version: old.token_version + 1',
    replace: 'token_version: old.token_version',
    caughtBy: ['Authentication 2: The token has claims jti'],
  },
  {
    breach: 'other sessions outlive their deletion',
    file: 'handlers/auth.js',
    find: 'await deleteOtherSessions(db, caller.account.id, caller.sessionId);',
    replace: '',
    caughtBy: ['Accounts and sessions, DELETE /auth/sessions: 200; deletes every session'],
  },
  {
    breach: 'anybody can delete anybody’s session',
    file: 'db/sessions.js',
    find: 'deleteFrom("sessions").where("account_id", "=", accountId).where("id", "=", id)',
    replace: 'deleteFrom("sessions").where("id", "=", id)',
    caughtBy: ['Accounts and sessions, DELETE /auth/sessions/:id: 404'],
  },
  {
    breach: 'a bad header is rescued by a good cookie',
    file: 'handlers/http/authenticate.js',
    find: 'authorization === void 0 ? request.cookies[SESSION_COOKIE] : BEARER.exec(authorization)?.[1]',
    replace: 'BEARER.exec(authorization ?? "")?.[1] ?? request.cookies[SESSION_COOKIE]',
    caughtBy: ['Status codes: missing or malformed credentials'],
  },
  {
    breach: 'the cookie can be read by scripts',
    file: 'handlers/http/cookies.js',
    find: 'httpOnly: true',
    replace: 'httpOnly: false',
    caughtBy: ['Rules: Cookie fc_session_token: HttpOnly'],
  },
  {
    breach: 'the cookie alone is enough for a page of another site',
    file: 'handlers/http/cross-site.js',
    find: 'if (!passes) throw',
    replace: 'if (!passes && origin === "null") throw',
    caughtBy: [
      'Status codes: an unsafe request by the cookie alone that comes from another site: 403: POST /posts/create',
    ],
  },
  {
    breach: 'a 401 does not name the scheme',
    file: 'handlers/http/errors.js',
    find: 'new HttpError(401, message, { "WWW-Authenticate": "Bearer" })',
    replace: 'new HttpError(401, message)',
    caughtBy: ['Authentication 1: Every endpoint requires credentials', 'openapi.yaml, getCurrentAccount: '],
  },
  {
    breach: 'a failed login tells that the address is known',
    file: 'handlers/auth.js',
    find: 'if (!await verifyPassword(secret.passwordHash, password)) return void 0;',
    replace: 'if (!await verifyPassword(secret.passwordHash, password)) throw unauthorized("The password is wrong.");',
    caughtBy: ['Authentication 7: Login failure returns a generic 401'],
  },
  {
    breach: 'a time is no time',
    file: 'handlers/views.js',
    find: 'created_at: session.created_at',
    replace: 'created_at: new Date(session.created_at).toUTCString()',
    caughtBy: ['openapi.yaml, listSessions: '],
  },
];
