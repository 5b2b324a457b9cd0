import { type Credentials, deleteAccount, findCredentials, findPictureOwner, updateAccount } from '../db/accounts.js';
import { asOwner, canSee } from '../db/visibility.js';
import type { ProfilesHandlers } from '../generated/handlers.js';
import type { AppContext } from './context.js';
import { clearedSessionCookie } from './cookies.js';
import { errorResponse, fieldTaken, invalidToken, unauthorizedResponse } from './errors.js';
import { serveImage } from './images.js';
import type { Client, Handlers } from './operation.js';
import { logSecurityEvent } from './security/events.js';
import { subjectOf } from './security/failed-passwords.js';
import { checkPassword } from './security/password-check.js';
import { hashPassword } from './security/password-hashing.js';
import { imageFileOf, quotaExceeded } from './uploads.js';
import { fullProfileView, reducedProfileView } from './views.js';

const WRONG_PASSWORD = unauthorizedResponse('invalid_password', 'Invalid password');

export const profiles: ProfilesHandlers<Handlers> = {
  async getOwnProfile({ user }) {
    return { status: 200, body: fullProfileView(user.account) };
  },

  async updateProfile({ user, body, client }, context) {
    const { image, remove_image, password, current_password, ...fields } = body;
    let checkedCredentials: Credentials | undefined;
    if (current_password !== undefined) {
      checkedCredentials = await checkOwnPassword(context, client, user.account.id, current_password);
      if (!checkedCredentials) return WRONG_PASSWORD;
    }

    const options = { lane: 'authenticated', key: subjectOf(user.account), signal: client.signal } as const;
    // `rules.ts` has rejected a new password without `current_password`.
    const passwordChange =
      password !== undefined && checkedCredentials
        ? { hash: await hashPassword(password, options), checkedCredentials }
        : undefined;

    const update = await updateAccount(context, user.account.id, {
      ...fields,
      picture: remove_image ? null : imageFileOf(image),
      storageMaxBytes: context.config.account.storageMaxBytes,
      password: passwordChange,
    });
    switch (update.outcome) {
      case 'updated': {
        const { account, before } = update;
        const details = { accountId: account.id, address: client.address };
        if (passwordChange) logSecurityEvent(client.log, 'password_changed', details);
        if (account.email !== before.email)
          logSecurityEvent(client.log, 'email_changed', { ...details, previousEmail: before.email });
        if (account.username !== before.username)
          logSecurityEvent(client.log, 'username_changed', { ...details, previousUsername: before.username });
        return {
          status: 200,
          // A password change ends all sessions, including this one.
          ...(passwordChange && { headers: clearedSessionCookie(context, client) }),
          body: fullProfileView(account),
        };
      }
      case 'taken':
        return fieldTaken(update.field);
      case 'quotaExceeded':
        return quotaExceeded(context);
      case 'stale':
        return WRONG_PASSWORD;
      case 'accountDeleted':
        throw invalidToken();
    }
  },

  async deleteAccount({ user, body, client }, context) {
    const checkedCredentials = await checkOwnPassword(context, client, user.account.id, body.password);
    if (!checkedCredentials) return WRONG_PASSWORD;
    const { outcome } = await deleteAccount(context, checkedCredentials);
    if (outcome === 'stale') return WRONG_PASSWORD;
    if (outcome === 'accountDeleted') throw invalidToken();
    logSecurityEvent(client.log, 'account_deleted', { accountId: user.account.id, address: client.address });
    return {
      status: 200,
      headers: clearedSessionCookie(context, client),
      body: { message: 'Your account is deleted.' },
    };
  },

  async getProfile({ user, path }, { read }) {
    const account = await read.account(path.id);
    if (!account) return errorResponse('not_found', 'There is no such profile.');
    const full = await canSee(user.account.id, asOwner(account), read.friends);
    return { status: 200, body: full ? fullProfileView(account) : reducedProfileView(account) };
  },

  async getProfileImage(request, context) {
    const owner = await findPictureOwner(context.db, request.path.filename);
    return serveImage(context, owner, request);
  },
};

/**
 * Checks the password of the authenticated user. Returns undefined if it is wrong, and otherwise the credentials that it was
 * checked against. A write that receives these credentials fails if the password has been changed since then.
 *
 * @throws HttpError 401 if the account has been deleted
 */
async function checkOwnPassword(
  context: AppContext,
  client: Client,
  id: number,
  password: string,
): Promise<Credentials | undefined> {
  const credentials = await findCredentials(context.db, { id });
  if (!credentials) throw invalidToken();
  const matches = await checkPassword(context, client, { credentials, password, lane: 'authenticated' });
  return matches ? credentials : undefined;
}
