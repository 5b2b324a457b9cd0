import type { Mutants } from './mutant.js';

export const sessions: Mutants = {
  'a token stays valid after logout': {
    file: 'handlers/auth.ts',
    find: 'if (!(await deleteSession(context.db, user.account.id, user.sessionId))) throw invalidToken();',
    replace: '',
    caughtBy: ['auth.logout.ends-session'],
  },
  'a token stays valid after its session is deleted': {
    file: 'handlers/auth.ts',
    find: 'if (!(await deleteSession(context.db, user.account.id, path.id))) {',
    replace: 'if (path.id.length < 30) {',
    caughtBy: ['sessions.delete.ends-session'],
  },
  'tokens stay valid after a password change': {
    file: 'db/accounts.ts',
    find: `token_version: old.token_version + 1 }),
      id,
    })
    .where('id', '=', id)
    .returning(ACCOUNT_COLUMNS)
    .executeTakeFirstOrThrow();
  if (password) await trx.deleteFrom('sessions').where('account_id', '=', id).execute();`,
    replace: `token_version: old.token_version }),
      id,
    })
    .where('id', '=', id)
    .returning(ACCOUNT_COLUMNS)
    .executeTakeFirstOrThrow();`,
    caughtBy: ['passwords.change.ends-sessions'],
  },
  'a password change does not increase the token version': {
    file: 'db/accounts.ts',
    find: 'token_version: old.token_version + 1',
    replace: 'token_version: old.token_version',
    caughtBy: ['passwords.change.token-version'],
  },
  'any user can delete any session': {
    file: 'db/sessions.ts',
    find: `deleteFrom('sessions') .where('account_id', '=', accountId) .where('id', '=', id)`,
    replace: `deleteFrom('sessions').where('id', '=', id)`,
    caughtBy: ['sessions.delete.not-own'],
  },
  'a valid cookie is used despite a malformed Authorization header': {
    file: 'handlers/http/authenticate.ts',
    find: 'if (authorization !== undefined) {',
    replace: 'if (authorization !== undefined && BEARER.test(authorization)) {',
    caughtBy: ['auth.credentials.refused'],
  },
  'the cookie is not HttpOnly': {
    file: 'handlers/http/cookies.ts',
    find: 'httpOnly: true',
    replace: 'httpOnly: false',
    caughtBy: ['auth.cookie.attributes'],
  },
  'the cookie authenticates cross-site requests': {
    file: 'handlers/http/cross-site.ts',
    find: 'if (isFromUntrustedOrigin(request, trusted)) throw',
    replace: 'if (isFromUntrustedOrigin(request, trusted) && request.headers.origin === "null") throw',
    caughtBy: ['sites.createPost'],
  },
  'a 401 lacks WWW-Authenticate': {
    file: 'handlers/http/errors.ts',
    find: `const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };`,
    replace: 'const CHALLENGE = {};',
    caughtBy: ['credentials.scheme', 'document.getCurrentAccount'],
  },
  'a rejected token has the code of missing credentials': {
    file: 'handlers/http/errors.ts',
    find: `new HttpError('invalid_token',`,
    replace: `new HttpError('missing_credentials',`,
    caughtBy: ['errors.message.401.token'],
  },
  'a failed login reveals that the email is registered': {
    file: 'handlers/auth.ts',
    find: 'if (!credentials || !matches) return undefined;',
    replace: `if (credentials && !matches) throw Object.assign(invalidToken(), { code: 'invalid_credentials', message: 'The password is wrong.', headers: { 'WWW-Authenticate': 'Bearer' } }); if (!credentials) return undefined;`,
    caughtBy: ['auth.login.generic-refusal'],
  },
  'created_at is not an ISO 8601 timestamp': {
    file: 'handlers/views.ts',
    find: 'created_at: session.created_at',
    replace: 'created_at: new Date(session.created_at).toUTCString()',
    caughtBy: ['document.listSessions'],
  },
  'the token of an ended session has the code of missing credentials': {
    file: 'handlers/http/authenticate.ts',
    find: 'if (!session || session.account.id',
    replace: 'if (!session) throw missingCredentials(); if (session.account.id',
    caughtBy: ['cookie.cleared.logout', 'cookie.kept.another'],
  },
  'deleting all other sessions keeps older ones': {
    file: 'db/sessions.ts',
    find: `where('id', '!=', currentId)`,
    replace: `where('id', '!=', currentId)
      .where('created_at', '>', db.selectFrom('sessions').select('created_at').where('id', '=', currentId))`,
    caughtBy: ['sessions.delete-others.keeps-current'],
  },
  'a password change together with other fields does not clear the cookie': {
    file: 'handlers/profiles.ts',
    find: '...(passwordChange && {',
    replace: '...(passwordChange && Object.keys(fields).length === 0 && {',
    caughtBy: ['profiles.update.together'],
  },
};
