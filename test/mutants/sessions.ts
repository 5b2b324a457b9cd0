import type { Mutant } from './mutant.js';

/** Credentials that are worth more, or say less, than they should. */
export const sessions: Mutant[] = [
  {
    breach: 'a token outlives its logout',
    file: 'handlers/auth.ts',
    find: 'if (!(await deleteSession(context.db, user.account.id, user.sessionId))) throw unauthorized();',
    replace: '',
    caughtBy: ['auth.logout.ends-session'],
  },
  {
    breach: 'a token outlives the deletion of its session',
    file: 'handlers/auth.ts',
    find: 'if (!(await deleteSession(context.db, user.account.id, path.id))) {',
    replace: 'if (path.id.length < 30) {',
    caughtBy: ['sessions.delete.ends-session'],
  },
  {
    breach: 'tokens outlive a password change',
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
  {
    breach: 'the token version stays the same',
    file: 'db/accounts.ts',
    find: 'token_version: old.token_version + 1',
    replace: 'token_version: old.token_version',
    caughtBy: ['passwords.change.token-version'],
  },
  {
    breach: 'other sessions outlive their deletion',
    file: 'handlers/auth.ts',
    find: 'await deleteOtherSessions(db, user.account.id, user.sessionId);',
    replace: '',
    caughtBy: ['sessions.delete-others.keeps-current'],
  },
  {
    breach: 'anybody can delete anybody’s session',
    file: 'db/sessions.ts',
    find: `deleteFrom('sessions') .where('account_id', '=', accountId) .where('id', '=', id)`,
    replace: `deleteFrom('sessions').where('id', '=', id)`,
    caughtBy: ['sessions.delete.not-own'],
  },
  {
    breach: 'a bad header is rescued by a good cookie',
    file: 'handlers/http/authenticate.ts',
    find: 'if (authorization !== undefined) {',
    replace: 'if (authorization !== undefined && BEARER.test(authorization)) {',
    caughtBy: ['auth.credentials.refused'],
  },
  {
    breach: 'the cookie can be read by scripts',
    file: 'handlers/http/cookies.ts',
    find: 'httpOnly: true',
    replace: 'httpOnly: false',
    caughtBy: ['auth.cookie.attributes'],
  },
  {
    breach: 'the cookie alone is enough for a page of another site',
    file: 'handlers/http/cross-site.ts',
    find: 'if (isCrossSite(request, trusted)) throw',
    replace: 'if (isCrossSite(request, trusted) && request.headers.origin === "null") throw',
    caughtBy: ['sites.createPost'],
  },
  {
    breach: 'a 401 does not name the scheme',
    file: 'handlers/http/errors.ts',
    find: `new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' })`,
    replace: 'new HttpError(401, message)',
    caughtBy: ['credentials.scheme', 'document.getCurrentAccount'],
  },
  {
    breach: 'a failed login tells that the address is known',
    file: 'handlers/auth.ts',
    find: 'if (!secret || !matches) return undefined;',
    replace: `if (secret && !matches) throw unauthorized('The password is wrong.'); if (!secret) return undefined;`,
    caughtBy: ['auth.login.generic-refusal'],
  },
  {
    breach: 'a time is no time',
    file: 'handlers/views.ts',
    find: 'created_at: session.created_at',
    replace: 'created_at: new Date(session.created_at).toUTCString()',
    caughtBy: ['document.listSessions'],
  },
];
