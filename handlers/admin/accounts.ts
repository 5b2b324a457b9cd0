import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createAccount, deleteAccount } from '../../db/accounts.js';
import {
  type AccountDetails,
  type AccountReference,
  endSessions,
  findAccountDetails,
  listAccounts,
  resetPassword,
  setDisabled,
} from '../../db/admin/accounts.js';
import { exportAccount } from '../../db/admin/export.js';
import { routes } from '../../generated/routes.js';
import { EMAIL_MAX_LENGTH, normalizeEmail } from '../policy/emails.js';
import { randomPassword } from '../policy/random-password.js';
import { hashPassword } from '../security/password-hashing.js';
import { validate } from '../validation.js';
import { type AdminContext, AdminInputError, bodyWith, id, recordChange, streamArchive } from './action.js';

/** An account's id, `@username` or email address. */
interface OfAccount {
  account: string;
}

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

/** The bodies and responses of these routes, by their paths below `/admin`. */
export interface AccountRoutes {
  'accounts/list': { Body: { search?: string; after?: number; limit: number }; Reply: AccountDetails[] };
  'accounts/show': { Body: OfAccount; Reply: AccountDetails };
  'accounts/create': { Body: AccountFields; Reply: NewPassword };
  'accounts/reset-password': { Body: OfAccount; Reply: NewPassword };
  /** Without an account: the sessions of all. */
  'accounts/end-sessions': { Body: Partial<OfAccount>; Reply: { ended: number } };
  'accounts/disable': { Body: OfAccount; Reply: AccountDetails };
  'accounts/enable': { Body: OfAccount; Reply: AccountDetails };
  'accounts/delete': { Body: OfAccount; Reply: AccountDetails };
  /** A tar archive. It ends early with AccountDeletedError if the account is deleted meanwhile. */
  'accounts/export': { Body: OfAccount; Reply: Readable };
}

const text = { type: 'string' };
/** A text to search for. No field can contain a longer one, and folding it could take seconds. */
const searched = { type: 'string', maxLength: EMAIL_MAX_LENGTH, pattern: '^[^\\x00]*$' };
const ofAccount = bodyWith({ account: searched });

export async function accountRoutes(app: FastifyInstance, context: AdminContext): Promise<void> {
  const { db } = context;

  async function findAccount(account: string): Promise<AccountDetails> {
    const details = await findAccountDetails(db, parseReference(account));
    if (!details) throw noSuchAccount(account);
    return details;
  }

  async function setAccountDisabled(request: FastifyRequest<{ Body: OfAccount }>, disabled: boolean) {
    const { account } = request.body;
    const { id } = await findAccount(account);
    if (!(await setDisabled(db, id, disabled))) throw noSuchAccount(account);
    await recordChange(context, request, disabled ? 'account_disabled' : 'account_enabled', { accountId: id });
    return findAccount(String(id));
  }

  app.post<AccountRoutes['accounts/list']>(
    '/accounts/list',
    { schema: bodyWith({ search: searched, after: id, limit: { ...id, minimum: 1 } }, ['limit']) },
    ({ body }) => listAccounts(db, body),
  );

  app.post<AccountRoutes['accounts/show']>('/accounts/show', { schema: ofAccount }, ({ body }) =>
    findAccount(body.account),
  );

  // Creates an account under the rules of registration, also while registration is closed.
  app.post<AccountRoutes['accounts/create']>(
    '/accounts/create',
    { schema: bodyWith({ name: text, username: text, email: text }) },
    async (request) => {
      const { name, username, email } = validateRegistration(request.body);
      const password = randomPassword({ username, email });
      const created = await createAccount(context, { name, username, email, passwordHash: await hash(password) });
      if (created.outcome === 'taken') throw new AdminInputError(`${created.field}: is already in use`);
      await recordChange(context, request, 'account_created', { accountId: created.id });
      return { id: created.id, name, username, email, password };
    },
  );

  app.post<AccountRoutes['accounts/reset-password']>(
    '/accounts/reset-password',
    { schema: ofAccount },
    async (request) => {
      const { id, name, username, email } = await findAccount(request.body.account);
      const password = randomPassword({ username, email });
      if (!(await resetPassword(db, id, await hash(password)))) throw noSuchAccount(request.body.account);
      await recordChange(context, request, 'password_changed', { accountId: id });
      return { id, name, username, email, password };
    },
  );

  app.post<AccountRoutes['accounts/end-sessions']>(
    '/accounts/end-sessions',
    { schema: bodyWith({ account: searched }, []) },
    async (request) => {
      const { account } = request.body;
      const accountId = account === undefined ? undefined : (await findAccount(account)).id;
      const ended = await endSessions(db, accountId);
      await recordChange(context, request, 'session_ended', accountId === undefined ? {} : { accountId });
      return { ended };
    },
  );

  app.post<AccountRoutes['accounts/disable']>('/accounts/disable', { schema: ofAccount }, (request) =>
    setAccountDisabled(request, true),
  );

  app.post<AccountRoutes['accounts/enable']>('/accounts/enable', { schema: ofAccount }, (request) =>
    setAccountDisabled(request, false),
  );

  app.post<AccountRoutes['accounts/delete']>('/accounts/delete', { schema: ofAccount }, async (request) => {
    const details = await findAccount(request.body.account);
    const { outcome } = await deleteAccount(context, { id: details.id });
    if (outcome !== 'deleted') throw noSuchAccount(request.body.account);
    await recordChange(context, request, 'account_deleted', { accountId: details.id });
    return details;
  });

  app.post<AccountRoutes['accounts/export']>('/accounts/export', { schema: ofAccount }, async (request) => {
    const { id } = await findAccount(request.body.account);
    await recordChange(context, request, 'account_exported', { accountId: id });
    return streamArchive(exportAccount(context, id), request);
  });
}

function parseReference(account: string): AccountReference {
  if (/^\d+$/.test(account) && Number.isSafeInteger(Number(account))) return { id: Number(account) };
  if (account.startsWith('@')) return { username: account.slice(1) };
  if (account.includes('@')) return { email: normalizeEmail(account) };
  throw new AdminInputError(`“${account}” is not the id, @username or email address of an account`);
}

const noSuchAccount = (account: string) => new AdminInputError(`There is no account “${account}”`);

const hash = (password: string) => hashPassword(password, { lane: 'authenticated' });

/** Returns the fields as a registration would store them. @throws AdminInputError with all problems */
function validateRegistration({ name, username, email }: AccountFields): AccountFields {
  const fields = { name, username, email: normalizeEmail(email) };
  // The password is missing: it is drawn for fields that are known to be valid.
  const validation = validate(routes.register, { fields, problems: [] });
  const problems = validation.problems.filter(({ field }) => field !== 'password');
  if (problems.length === 0) return fields;
  const messages = new Set(problems.map(({ field, message }) => `${field}: ${message}`));
  throw new AdminInputError([...messages].join('; '));
}
