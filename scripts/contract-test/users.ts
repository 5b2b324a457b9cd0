import { randomBytes } from 'node:crypto';
import pLimit from 'p-limit';
import { insertDashes } from '../support/insert-dashes.js';
import type { CheckedResponse, ContractClient, ExchangeObserver, RequestContent, Send } from './client/index.js';
import { ExpectationError, expectStatus, SkippedError } from './expect.js';

/** A user, or an unauthenticated client, that sends requests. */
export interface Requester {
  /**
   * Sends a request such as `GET /posts/7`.
   *
   * @throws ExpectationError if the response has none of the expected statuses
   */
  send(expected: number | number[], request: string, content?: RequestContent): Promise<CheckedResponse>;
}

/** The fields of a registration. */
interface NewUser {
  name: string;
  username: string;
  email: string;
  password: string;
}

export interface User extends Requester, NewUser {
  id: number;
  token: string;
}

/** An account that the operator of the service has created. */
export interface OperatorAccount extends NewUser {
  id: number;
}

interface Account extends Pick<User, 'id' | 'email' | 'password'> {
  token?: string;
}

/** Limited because a registration, a login and an account deletion each cost the service a password hash. */
const MAX_CONCURRENT_HASHES = 3;

const normalizeEmail = (value: unknown) => String(value).trim().toLowerCase();

/**
 * Observes the requests of a run, and records the credentials of every account for its deletion. It does not read raw bodies:
 * a rule that changes an email or password must send `json` or `form`, or leave a session that is valid.
 */
export function createAccountRegistry(operatorAccounts: readonly OperatorAccount[] = []) {
  const accounts = new Map<number, Account>(
    operatorAccounts.map(({ id, email, password }) => [id, { id, email: normalizeEmail(email), password }]),
  );
  const accountsByToken = new Map<string, Account>();
  let registeredCount = 0;

  /**
   * Deletes an account with its most recent token. Logs in first if the account has no token, or if the session of the token
   * has ended. `onExchange` records the new token and the deletion.
   */
  async function remove(send: Send, account: Account): Promise<void> {
    const { email, password } = account;
    for (const newSession of [false, true]) {
      if (newSession) delete account.token;
      if (account.token === undefined) await send('POST /auth/login', { json: { email, password } });
      if (account.token === undefined) return;
      await send('DELETE /profiles/me', { token: account.token, json: { password } });
      if (!accounts.has(account.id)) return;
    }
  }

  return {
    /** Returns the number of accounts that were registered, including deleted ones. */
    registeredCount: () => registeredCount,

    onExchange(...[method, path, { json, form, token }, { status, body }]: Parameters<ExchangeObserver['onExchange']>) {
      const fields = (json ?? form ?? {}) as Record<string, unknown>;
      const account = accountsByToken.get(token ?? '');
      switch (status < 300 && `${method} ${path.split('?', 1)[0]}`) {
        case 'POST /auth/register':
          if (!Number.isInteger(body?.id)) return;
          registeredCount += 1;
          accounts.set(body.id, { id: body.id, email: normalizeEmail(fields.email), password: `${fields.password}` });
          return;
        case 'POST /auth/login': {
          const registered = accounts.get(body?.id);
          if (!registered) return;
          registered.token = body.token;
          accountsByToken.set(body.token, registered);
          return;
        }
        case 'PUT /profiles/me':
          if (account && fields.email !== undefined) account.email = normalizeEmail(fields.email);
          if (account && fields.password !== undefined) account.password = String(fields.password);
          return;
        case 'DELETE /profiles/me':
          if (account) accounts.delete(account.id);
      }
    },

    /** Deletes the accounts. Continues if a deletion fails. */
    async deleteAll(send: Send) {
      const limitConcurrency = pLimit(MAX_CONCURRENT_HASHES);
      const removals = [...accounts.values()].map((account) => limitConcurrency(() => remove(send, account)));
      await Promise.allSettled(removals);
    },

    /** Returns the ids of the accounts that have not been deleted. */
    undeleted: () => [...accounts.keys()],
  };
}

export type TestUsers = ReturnType<typeof createTestUsers>;

/**
 * Creates the users of a run, which rules share or register for themselves.
 *
 * @param operatorAccounts accounts to use instead of registrations
 */
export function createTestUsers(client: ContractClient, operatorAccounts?: readonly OperatorAccount[]) {
  const unusedAccounts = operatorAccounts && [...operatorAccounts];
  const sharedValues = new Map<string, Promise<unknown>>();
  const limitConcurrency = pLimit(MAX_CONCURRENT_HASHES);
  const createSender = (token?: string): Requester => ({
    async send(expected, request, content) {
      const response = await client.send(request, { ...(token !== undefined && { token }), ...content });
      const isClosed = request.startsWith('POST /auth/register') && response.body?.code === 'registration_closed';
      // Only rules about closed registration expect this response, with a 403.
      if (operatorAccounts && isClosed && response.status === 403 && ![expected].flat().includes(403))
        throw new SkippedError('registration is closed');
      return expectStatus(response, expected);
    },
  });
  /** Sends requests without credentials, except those in `content`. */
  const anonymous = createSender();

  /** Returns the fields of a new user. */
  function newUser(): NewUser {
    const hex = randomBytes(14).toString('hex');
    // Dashes break up sequences and repeats, which a password must not contain. One rule uses the username in a password.
    const username = `test${insertDashes(hex.slice(0, 12))}`;
    const password = `Quiet.7${insertDashes(hex.slice(12, 28))}`;
    return { name: 'Contract Tester', username, email: `${username}@example.org`, password };
  }

  /** Logs in and returns the response, which has the token and the cookie. */
  const login = ({ email, password }: Pick<NewUser, 'email' | 'password'>, headers: Record<string, string> = {}) =>
    anonymous.send(200, 'POST /auth/login', { json: { email, password }, headers });

  async function createAccount(): Promise<OperatorAccount> {
    if (!unusedAccounts) {
      const user = newUser();
      return { ...user, id: (await anonymous.send(201, 'POST /auth/register', { json: user })).body.id };
    }
    const account = unusedAccounts.pop();
    if (!account) throw new SkippedError('--accounts has too few accounts');
    return account;
  }

  /** Registers a new user, or takes an account of the operator, and logs in. */
  const register = (): Promise<User> =>
    limitConcurrency(async () => {
      const account = await createAccount();
      const { token } = (await login(account)).body;
      return { ...account, token, ...createSender(token) };
    });

  /** Returns the value with this key, which is created on first use and shared between rules. */
  function shared<T>(key: string, create: () => Promise<T>): Promise<T> {
    const value = sharedValues.get(key) ?? create();
    sharedValues.set(key, value);
    return (value as Promise<T>).catch((error) => {
      throw error instanceof ExpectationError
        ? new ExpectationError(`${error.expected} (while preparing this rule)`, error.exchange, error.actual)
        : error;
    });
  }

  /** Returns the user with this key, who is registered on first use and shared between rules. */
  const sharedUser = (key: string) => shared(`user ${key}`, register);

  return {
    origin: client.origin,
    /** Whether registration must be closed, because the operator has created the accounts. */
    isRegistrationClosed: operatorAccounts !== undefined,
    anonymous,
    newUser,
    login,
    register,
    shared,
    sharedUser,
  };
}
