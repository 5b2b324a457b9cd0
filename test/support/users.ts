import { randomBytes } from 'node:crypto';
import * as argon2 from '@node-rs/argon2';
import type { Test } from 'tap';
import { createAccount, findCredentials } from '../../db/accounts.js';
import { createSession } from '../../db/sessions.js';
import type { Stores } from '../../db/stores/index.js';
import { hashPassword } from '../../handlers/security/password-hashing.js';
import type { Tokens } from '../../handlers/security/tokens.js';
import { createSender, type HttpOptions, type TestResponse } from './http.js';

/** The password of every test user. It complies with the password policy. */
export const PASSWORD = 'Quiet-Harbour-27!';
/** Another password that complies with the policy. */
export const NEW_PASSWORD = 'Amber-Lighthouse-58?';
export const WRONG_PASSWORD = 'Quiet-Harbour-28!';

/** A registered user with a session. */
export interface TestUser {
  id: number;
  name: string;
  username: string;
  email: string;
  token: string;
  /** Sends a request with this user's token. */
  send(method: string, path: string, options?: HttpOptions): Promise<TestResponse>;
  /** Starts another session of the same account. */
  newSession(): Promise<TestUser>;
}

/** A user of a service in another process, registered over HTTP. */
export interface RegisteredUser extends Pick<TestUser, 'id' | 'username' | 'email' | 'token' | 'send'> {
  login(): Promise<string>;
}

type SendJson = (
  method: string,
  path: string,
  options: { json: object },
) => Promise<Pick<TestResponse, 'status' | 'body'>>;

/** Registers a user with a function that sends requests, and logs in. */
export async function registerWith(send: SendJson, password = PASSWORD) {
  const username = `u${randomBytes(6).toString('hex')}`;
  const email = `${username}@people.example`;
  const json = { name: 'Test User', username, email, password };
  const registered = await send('POST', '/auth/register', { json });
  if (registered.status !== 201) throw new Error(`the registration returned ${registered.status}`);
  const login = async (): Promise<string> =>
    (await send('POST', '/auth/login', { json: { email, password } })).body.token;
  return { id: registered.body.id as number, username, email, password, token: await login(), login };
}

export async function registerUser(t: Test, url: string): Promise<RegisteredUser> {
  const send = createSender(t, url);
  const user: RegisteredUser = {
    ...(await registerWith(send)),
    send: (method, path, options) => send(method, path, { token: user.token, ...options }),
  };
  return user;
}

interface Options {
  stores: Stores;
  tokens: Tokens;
  send: TestUser['send'];
}

/** The minimum parameters of Argon2id. */
const CHEAPEST_ARGON2_OPTIONS = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/**
 * Returns a function that creates users with a session, and with precomputed password hashes, to save time. Only the hash
 * of a `strong` user has the service's own parameters, so that a login does not replace it.
 */
export async function createUserFactory({ stores, tokens, send }: Options) {
  const { db } = stores;
  const [strongHash, cheapHash] = [await hashPassword(PASSWORD), await argon2.hash(PASSWORD, CHEAPEST_ARGON2_OPTIONS)];

  async function withSession(account: Pick<TestUser, 'id' | 'name' | 'username' | 'email'>): Promise<TestUser> {
    const credentials = await findCredentials(db, { id: account.id });
    const expiresAt = new Date(Date.now() + 3_600_000);
    const sessionId = credentials && (await createSession(stores.db, credentials, { deviceName: 'a test', expiresAt }));
    if (!sessionId) throw new Error('no session was created');
    const claims = { accountId: account.id, sessionId, tokenVersion: credentials.tokenVersion };
    const token = await tokens.issue(claims, expiresAt);
    return {
      ...account,
      token,
      send: (method, path, options) => send(method, path, { token, ...options }),
      newSession: () => withSession(account),
    };
  }

  return async ({ strong = false, name = 'Test User' } = {}): Promise<TestUser> => {
    const username = `u${randomBytes(6).toString('hex')}`;
    const email = `${username}@people.example`;
    const created = await createAccount(stores, {
      name,
      username,
      email,
      passwordHash: strong ? strongHash : cheapHash,
    });
    if (created.outcome !== 'created') throw new Error('no account was created');
    return withSession({ id: created.id, name, username, email });
  };
}
