import { createAccount, deleteAccount } from '../../db/accounts.js';
import {
  type AccountDetails,
  type AccountReference,
  countAction,
  endSessions,
  findAccountDetails,
  findPostDetails,
  listAccounts,
  type PostDetails,
  resetPassword,
  setDisabled,
} from '../../db/admin/accounts.js';
import { exportAccount } from '../../db/admin/export.js';
import { deletePost } from '../../db/post-writes.js';
import { routes } from '../../generated/routes.js';
import type { AppContext } from '../context.js';
import { problemsOfBody } from '../http/input.js';
import { EMAIL_MAX_LENGTH, normalizeEmail } from '../policy/emails.js';
import { randomPassword } from '../policy/random-password.js';
import { logSecurityEvent } from '../security/events.js';
import { hashPassword } from '../security/password-hashing.js';

/*
 * The actions of the operator: `npm run admin`. The command runs them itself, or, if the service has claimed the data directory,
 * lets the service run them: see `control.ts`. Both logs each change as a security event.
 */

/** An action was given something that it cannot use, such as the name of an account that does not exist. */
export class AdminInputError extends Error {
  override readonly name = 'AdminInputError';
  readonly code = 'admin_input';
}

type AdminContext = Pick<AppContext, 'db' | 'graph' | 'images' | 'outbox' | 'log'>;

interface AccountFields {
  name: string;
  username: string;
  email: string;
}

/** A new password, which is only ever returned here. */
interface NewPassword extends AccountFields {
  id: number;
  password: string;
}

/** An account's id, `@username` or email address. */
interface OfAccount {
  account: string;
}

export type AdminActions = ReturnType<typeof createAdminActions>;

/**
 * Returns the actions by name. Their arguments and results can be written as JSON, except the archive of `exportAccount`.
 *
 * Each of them @throws AdminInputError, StoreUnavailableError
 */
export function createAdminActions(context: AdminContext) {
  const { db, log } = context;

  /** Logs and counts a change. It was made, so that a failure to count it does not fail the action. */
  async function record(
    command: string,
    event: Parameters<typeof logSecurityEvent>[1],
    ids: { accountId?: number; postId?: number },
  ): Promise<void> {
    logSecurityEvent(log, event, { ...ids, command });
    await countAction(db).catch((err) => log.warn({ err }, 'action of the operator not counted'));
  }

  const detailsOf = async (account: string) => {
    const details = await findAccountDetails(db, parseReference(account));
    if (!details) throw noSuchAccount(account);
    return details;
  };

  async function setAccountDisabled(account: string, disabled: boolean): Promise<AccountDetails> {
    const { id } = await detailsOf(account);
    if (!(await setDisabled(db, id, disabled))) throw noSuchAccount(account);
    if (disabled) await record('accounts disable', 'account_disabled', { accountId: id });
    else await record('accounts enable', 'account_enabled', { accountId: id });
    return detailsOf(String(id));
  }

  return {
    listAccounts: async (page: { search?: string; after?: number; limit: number }): Promise<AccountDetails[]> =>
      listAccounts(db, { ...page, search: page.search && bounded(page.search) }),

    showAccount: ({ account }: OfAccount): Promise<AccountDetails> => detailsOf(account),

    /** Creates an account under the rules of registration, also while registration is closed. */
    async createAccount(fields: AccountFields): Promise<NewPassword> {
      const { name, username, email } = validateRegistration(fields);
      const password = randomPassword({ username, email });
      const created = await createAccount(context, { name, username, email, passwordHash: await hash(password) });
      if (created.outcome === 'taken') throw new AdminInputError(`${created.field}: is already in use`);
      await record('accounts create', 'account_created', { accountId: created.id });
      return { id: created.id, name, username, email, password };
    },

    async resetPassword({ account }: OfAccount): Promise<NewPassword> {
      const { id, name, username, email } = await detailsOf(account);
      const password = randomPassword({ username, email });
      if (!(await resetPassword(db, id, await hash(password)))) throw noSuchAccount(account);
      await record('accounts reset-password', 'password_changed', { accountId: id });
      return { id, name, username, email, password };
    },

    async endSessions({ account }: Partial<OfAccount>): Promise<{ ended: number }> {
      const accountId = account === undefined ? undefined : (await detailsOf(account)).id;
      const ended = await endSessions(db, accountId);
      await record('accounts end-sessions', 'session_ended', accountId === undefined ? {} : { accountId });
      return { ended };
    },

    disableAccount: ({ account }: OfAccount): Promise<AccountDetails> => setAccountDisabled(account, true),

    enableAccount: ({ account }: OfAccount): Promise<AccountDetails> => setAccountDisabled(account, false),

    async deleteAccount({ account }: OfAccount): Promise<AccountDetails> {
      const details = await detailsOf(account);
      const { outcome } = await deleteAccount(context, { id: details.id });
      if (outcome !== 'deleted') throw noSuchAccount(account);
      await record('accounts delete', 'account_deleted', { accountId: details.id });
      return details;
    },

    /** Returns a tar archive, which ends early with AccountDeletedError if the account is deleted meanwhile. */
    async exportAccount({ account }: OfAccount): Promise<AsyncGenerator<Uint8Array>> {
      const { id } = await detailsOf(account);
      await record('accounts export', 'account_exported', { accountId: id });
      return exportAccount(context, id);
    },

    async showPost({ id }: { id: number }): Promise<PostDetails> {
      const post = await findPostDetails(db, id);
      if (!post) throw noSuchPost(id);
      return post;
    },

    async deletePost({ id }: { id: number }): Promise<PostDetails> {
      const post = await findPostDetails(db, id);
      if (!post || !(await deletePost(context, post.author_id, id))) throw noSuchPost(id);
      await record('posts delete', 'post_deleted', { accountId: post.author_id, postId: id });
      return post;
    },
  };
}

/** Returns a text to search for. @throws AdminInputError if no field can contain it: folding it could take seconds */
function bounded(text: string): string {
  if (text.length <= EMAIL_MAX_LENGTH) return text;
  throw new AdminInputError(`The text to search for has more than ${EMAIL_MAX_LENGTH} characters`);
}

function parseReference(reference: string): AccountReference {
  const account = bounded(reference);
  if (/^\d+$/.test(account) && Number.isSafeInteger(Number(account))) return { id: Number(account) };
  if (account.startsWith('@')) return { username: account.slice(1) };
  if (account.includes('@')) return { email: normalizeEmail(account) };
  throw new AdminInputError(`“${account}” is not the id, @username or email address of an account`);
}

const noSuchAccount = (account: string) => new AdminInputError(`There is no account “${account}”`);
const noSuchPost = (id: number) => new AdminInputError(`There is no post ${id}`);

const hash = (password: string) => hashPassword(password, { lane: 'authenticated' });

/** Returns the fields as a registration would store them. @throws AdminInputError with all problems */
function validateRegistration({ name, username, email }: AccountFields): AccountFields {
  const fields = { name, username, email: normalizeEmail(email) };
  // The password is missing: it is drawn for fields that are known to be valid.
  const problems = problemsOfBody(routes.register, fields).filter(({ field }) => field !== 'password');
  if (problems.length === 0) return fields;
  const messages = new Set(problems.map(({ field, message }) => `${field}: ${message}`));
  throw new AdminInputError([...messages].join('; '));
}
