import { deleteAccount, findPictureOwner, findSecret, type Secret, updateAccount } from '../db/accounts.js';
import { canSee } from '../db/visibility.js';
import type { Client } from '../generated/handlers.js';
import type { App, Handlers } from './context.js';
import { clearedSessionCookie } from './http/cookies.js';
import { unauthorized } from './http/errors.js';
import { imageAnswer, NO_SUCH_IMAGE, withUpload } from './http/images.js';
import { logSecurityEvent } from './security/events.js';
import { subjectOf } from './security/failed-passwords.js';
import { checkPassword } from './security/password-check.js';
import { hashPassword } from './security/password-hashing.js';
import { briefProfileView, fullProfileView } from './views.js';

type ProfileHandlers = Pick<
  Handlers,
  'getOwnProfile' | 'updateProfile' | 'deleteAccount' | 'getProfile' | 'getProfileImage'
>;

const WRONG_PASSWORD = {
  status: 401,
  headers: { 'WWW-Authenticate': 'Bearer' },
  body: { message: 'Invalid password' },
} as const;

export const profiles: ProfileHandlers = {
  async getOwnProfile({ caller }) {
    return { status: 200, body: fullProfileView(caller.account) };
  },

  async updateProfile({ caller, body, client }, app) {
    const { image, remove_image, password, current_password, ...fields } = body;
    const checked =
      current_password === undefined
        ? undefined
        : await checkOwnPassword(app, client, caller.account.id, current_password);
    if (current_password !== undefined && !checked) return WRONG_PASSWORD;

    const turn = { lane: 'account', key: subjectOf(caller.account), signal: client.signal } as const;
    const passwordChange = password !== undefined && checked && { hash: await hashPassword(password, turn), checked };

    const uploadContext = { account: caller.account.id, upload: image, replaced: 'picture' } as const;
    const update = await withUpload(app, uploadContext, (picture) =>
      updateAccount(app.db, caller.account.id, {
        ...fields,
        picture: remove_image ? null : picture,
        ...(passwordChange && { password: passwordChange }),
      }),
    );
    switch (update.outcome) {
      case 'gone':
        throw unauthorized();
      case 'stale':
        return WRONG_PASSWORD;
      case 'taken':
        return { status: 409, body: { message: 'The username or email is already in use.' } };
      case 'updated':
        await app.outbox.deliver(update.entries);
        if (passwordChange)
          logSecurityEvent(client.log, 'password_changed', { accountId: caller.account.id, address: client.address });
        return {
          status: 200,
          ...(passwordChange && { headers: clearedSessionCookie(app, client) }),
          body: fullProfileView(update.account),
        };
    }
  },

  async deleteAccount({ caller, body, client }, app) {
    const checked = await checkOwnPassword(app, client, caller.account.id, body.password);
    const entries = checked && (await deleteAccount(app.db, checked));
    if (!entries) return WRONG_PASSWORD;
    await app.outbox.deliver(entries);
    logSecurityEvent(client.log, 'account_deleted', { accountId: caller.account.id, address: client.address });
    return { status: 200, headers: clearedSessionCookie(app, client), body: { message: 'Your account is deleted.' } };
  },

  async getProfile({ caller, path }, { read }) {
    const account = await read.account(path.id);
    if (!account) return { status: 404, body: { message: 'There is no such profile.' } };
    const full = await canSee(caller.account.id, account, read.friends);
    return { status: 200, body: full ? fullProfileView(account) : briefProfileView(account) };
  },

  async getProfileImage({ caller, path, headers }, app) {
    const owner = await findPictureOwner(app.db, path.filename);
    if (!(await canSee(caller.account.id, owner, app.read.friends))) return NO_SUCH_IMAGE;
    return imageAnswer(app, path.filename, headers);
  },
};

/** Returns what was checked, for the write that follows to compare with; undefined when the password is wrong. */
async function checkOwnPassword(app: App, client: Client, id: number, password: string): Promise<Secret | undefined> {
  const secret = await findSecret(app.db, { id });
  if (!secret) throw unauthorized();
  return (await checkPassword(app, client, { secret, password, lane: 'account' })) ? secret : undefined;
}
