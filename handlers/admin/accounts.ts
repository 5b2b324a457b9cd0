import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createAccount, deleteAccount, updateAccount } from '../../db/accounts.js';
import { ACCOUNT_ORDERS, type AccountDetails, endSessions, listAccounts } from '../../db/admin/accounts.js';
import { exportAccount } from '../../db/admin/export.js';
import { logAction } from '../../db/operator-log.js';
import { routes } from '../../generated/routes.js';
import { EMAIL_MAX_LENGTH, normalizeEmail } from '../policy/emails.js';
import { randomPassword } from '../policy/random-password.js';
import { logSecurityEvent } from '../security/events.js';
import { hashPassword } from '../security/password-hashing.js';
import { validate } from '../validation.js';
import { type AdminContext, AdminInputError, actionOf, bodyWith, schemas, streamFile } from './action.js';
import { findAccount, noSuchAccount } from './references.js';

/** An account's id, `@username`, email address or profile picture. */
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
  'accounts/list': { Body: Parameters<typeof listAccounts>[1]; Reply: AccountDetails[] };
  'accounts/show': { Body: OfAccount; Reply: AccountDetails };
  'accounts/create': { Body: AccountFields; Reply: NewPassword };
  'accounts/reset-password': { Body: OfAccount; Reply: NewPassword };
  /** Without an account: the sessions of all. */
  'accounts/end-sessions': { Body: Partial<OfAccount>; Reply: { ended: number } };
  'accounts/set-email': { Body: OfAccount & { email: string }; Reply: AccountDetails };
  'accounts/remove-picture': { Body: OfAccount; Reply: AccountDetails };
  'accounts/disable': { Body: OfAccount; Reply: AccountDetails };
  'accounts/enable': { Body: OfAccount; Reply: AccountDetails };
  'accounts/delete': { Body: OfAccount; Reply: AccountDetails };
  /** A tar archive. It ends early with AccountDeletedError if the account is deleted meanwhile. */
  'accounts/export': { Body: OfAccount; Reply: Readable };
}

const field = { type: 'string' };
const ofAccount = bodyWith({ account: schemas.reference });
const page = {
  /** No field can contain a longer text, and folding it could take seconds. */
  search: schemas.text(EMAIL_MAX_LENGTH),
  disabled: { type: 'boolean' },
  order: { enum: Object.keys(ACCOUNT_ORDERS) },
  after: schemas.id,
  limit: schemas.limit,
};

export async function accountRoutes(app: FastifyInstance, context: AdminContext): Promise<void> {
  const { db, log } = context;

  /** Changes an account, and logs it. Returns the account as it is afterwards. @throws AdminInputError */
  async function change(
    request: FastifyRequest<{ Body: OfAccount }>,
    event: Parameters<typeof logSecurityEvent>[1],
    change: Partial<Parameters<typeof updateAccount>[2]>,
  ): Promise<AccountDetails> {
    const { account } = request.body;
    const { id: accountId } = await findAccount(db, account);
    const action = actionOf(request);
    const update = await updateAccount(context, accountId, { ...change, storageMaxBytes: 0, action });
    if (update.outcome === 'taken') throw alreadyInUse(update.field);
    if (update.outcome !== 'updated') throw noSuchAccount(account);
    const previousEmail = change.email && update.before.email;
    logSecurityEvent(log, event, { accountId, previousEmail, command: action.command });
    return findAccount(db, String(accountId));
  }

  app.post<AccountRoutes['accounts/list']>(
    '/accounts/list',
    { schema: bodyWith(page, ['limit']) },
    async ({ body }) => {
      const { order, after } = body;
      if (after !== undefined && (order === 'posts' || order === 'stored-bytes')) await findAccount(db, String(after));
      return listAccounts(db, body);
    },
  );

  app.post<AccountRoutes['accounts/show']>('/accounts/show', { schema: ofAccount }, ({ body }) =>
    findAccount(db, body.account),
  );

  // Creates an account under the rules of registration, also while registration is closed.
  app.post<AccountRoutes['accounts/create']>(
    '/accounts/create',
    { schema: bodyWith({ name: field, username: field, email: field }) },
    async (request) => {
      const { name, username, email } = request.body;
      const fields = requireValid({ name, username, email: normalizeEmail(email) });
      const password = randomPassword(fields);
      const action = actionOf(request);
      const created = await createAccount(context, { ...fields, passwordHash: await hash(password) }, action);
      if (created.outcome === 'taken') throw alreadyInUse(created.field);
      logSecurityEvent(log, 'account_created', { accountId: created.id, command: action.command });
      return { id: created.id, ...fields, password };
    },
  );

  app.post<AccountRoutes['accounts/reset-password']>(
    '/accounts/reset-password',
    { schema: ofAccount },
    async (request) => {
      const password = randomPassword(await findAccount(db, request.body.account));
      const newHash = await hash(password);
      const { id, name, username, email } = await change(request, 'password_changed', { password: { hash: newHash } });
      return { id, name, username, email, password };
    },
  );

  app.post<AccountRoutes['accounts/end-sessions']>(
    '/accounts/end-sessions',
    { schema: bodyWith({ account: schemas.reference }, []) },
    async (request) => {
      const { account } = request.body;
      const accountId = account === undefined ? undefined : (await findAccount(db, account)).id;
      const action = actionOf(request);
      const ended = await endSessions(db, accountId, action);
      logSecurityEvent(log, 'session_ended', { accountId, command: action.command });
      return { ended };
    },
  );

  // Sets an email address under the rules of registration.
  app.post<AccountRoutes['accounts/set-email']>(
    '/accounts/set-email',
    { schema: bodyWith({ account: schemas.reference, email: field }) },
    (request) => {
      const { email } = requireValid({ email: normalizeEmail(request.body.email) });
      return change(request, 'email_changed', { email, endSessions: true });
    },
  );

  app.post<AccountRoutes['accounts/remove-picture']>(
    '/accounts/remove-picture',
    { schema: ofAccount },
    async (request) => {
      const { account } = request.body;
      if ((await findAccount(db, account)).picture === null)
        throw new AdminInputError(`The account “${account}” has no picture`);
      return change(request, 'picture_removed', { picture: null });
    },
  );

  app.post<AccountRoutes['accounts/disable']>('/accounts/disable', { schema: ofAccount }, (request) =>
    change(request, 'account_disabled', { disabled: true, endSessions: true }),
  );

  app.post<AccountRoutes['accounts/enable']>('/accounts/enable', { schema: ofAccount }, (request) =>
    change(request, 'account_enabled', { disabled: false, endSessions: true }),
  );

  app.post<AccountRoutes['accounts/delete']>('/accounts/delete', { schema: ofAccount }, async (request) => {
    const details = await findAccount(db, request.body.account);
    const action = actionOf(request);
    const { outcome } = await deleteAccount(context, { id: details.id, action });
    if (outcome !== 'deleted') throw noSuchAccount(request.body.account);
    logSecurityEvent(log, 'account_deleted', { accountId: details.id, command: action.command });
    return details;
  });

  app.post<AccountRoutes['accounts/export']>('/accounts/export', { schema: ofAccount }, async (request) => {
    const { id: accountId } = await findAccount(db, request.body.account);
    const action = actionOf(request);
    await logAction(db, action, accountId);
    logSecurityEvent(log, 'account_exported', { accountId, command: action.command });
    return streamFile(exportAccount(context, accountId), request);
  });
}

const alreadyInUse = (field: string) => new AdminInputError(`${field}: is already in use`);

const hash = (password: string) => hashPassword(password, { lane: 'authenticated' });

/** Returns these fields of an account, which a registration would accept. @throws AdminInputError with all problems */
function requireValid<Fields extends Partial<AccountFields>>(fields: Fields): Fields {
  // Problems of other fields do not matter: they are missing.
  const { problems } = validate(routes.register, { fields: { ...fields }, problems: [] });
  const own = problems.filter(({ field }) => field in fields);
  if (own.length === 0) return fields;
  const messages = new Set(own.map(({ field, message }) => `${field}: ${message}`));
  throw new AdminInputError([...messages].join('; '));
}
