import { deleteAccount, findAccountByPicture, findSecret, type Secret, updateAccount } from '../db/accounts.js';
import type { Database } from '../db/postgres/index.js';
import { canSee } from '../db/visibility.js';
import type { Handlers } from './app.js';
import { clearedSessionCookie } from './http/cookies.js';
import { unauthorized } from './http/errors.js';
import { imageAnswer, NO_SUCH_IMAGE, withUpload } from './images.js';
import { hashPassword, verifyPassword } from './password-hash.js';
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

  async updateProfile({ caller, body }, app) {
    const { image, remove_image, password, current_password, ...fields } = body;
    const checked =
      current_password === undefined ? undefined : await checkPassword(app.db, caller.account.id, current_password);
    if (current_password !== undefined && !checked) return WRONG_PASSWORD;

    const passwordChange = password !== undefined && checked && { hash: await hashPassword(password), checked };

    const update = await withUpload(app, image, (picture) =>
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
        return {
          status: 200,
          ...(passwordChange && { headers: clearedSessionCookie(app) }),
          body: fullProfileView(update.account),
        };
    }
  },

  async deleteAccount({ caller, body }, app) {
    const checked = await checkPassword(app.db, caller.account.id, body.password);
    const entries = checked && (await deleteAccount(app.db, checked));
    if (!entries) return WRONG_PASSWORD;
    await app.outbox.deliver(entries);
    return { status: 200, headers: clearedSessionCookie(app), body: { message: 'Your account is deleted.' } };
  },

  async getProfile({ caller, path }, { read }) {
    const account = await read.account(path.id);
    if (!account) return { status: 404, body: { message: 'There is no such profile.' } };
    const full = await canSee(caller.account.id, account, read.friends);
    return { status: 200, body: full ? fullProfileView(account) : briefProfileView(account) };
  },

  async getProfileImage({ caller, path, headers }, { db, images, read }) {
    const owner = await findAccountByPicture(db, path.filename);
    if (!owner || !(await canSee(caller.account.id, owner, read.friends))) return NO_SUCH_IMAGE;
    return imageAnswer(images, path.filename, headers['if-none-match']);
  },
};

/** Answers what was checked, for the write that follows to go by; undefined when the password is wrong. */
async function checkPassword(db: Database, id: number, password: string): Promise<Secret | undefined> {
  const secret = await findSecret(db, { id });
  if (!secret) throw unauthorized();
  return (await verifyPassword(secret.passwordHash, password)) ? secret : undefined;
}
