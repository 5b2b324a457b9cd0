import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { inPairs } from '../pairs.js';
import type { Client, Observer, Send } from './client.js';
import type { CheckedResponse, RequestOptions } from './exchange.js';
import { ExpectationError, expectStatus } from './expect.js';

/** Who a request is from. */
export interface Requester {
  /** Sends a request such as `GET /posts/7`, and answers what came if it is of the status that is wanted. */
  send(wanted: number | number[], request: string, sent?: RequestOptions): Promise<CheckedResponse>;
}

export interface User extends Requester {
  id: number;
  name: string;
  username: string;
  email: string;
  password: string;
  token: string;
}

export interface NewUser {
  name: string;
  username: string;
  email: string;
  password: string;
}

/** The people of a run. Every account that comes into being is remembered, whoever has registered it, to be deleted. */
export interface TestUsers {
  /** The scheme, host and port of the service. */
  readonly origin: string;
  /** Asks without credentials, or with those that `sent` has. */
  anonymous: Requester;
  /** Somebody whom no service knows yet, the same for the same seed. */
  newUser(): NewUser;
  /** The answer to a login, whose token and cookie it holds. */
  login(who: Pick<NewUser, 'email' | 'password'>, headers?: Record<string, string>): Promise<CheckedResponse>;
  /** Registers somebody new and logs them in. */
  register(): Promise<User>;
  /** The person of this name, who is made when first asked for, and shared by all rules that ask. */
  sharedUser(name: string): Promise<User>;
  /** What is made when first asked for, and shared by all rules that ask. */
  once<Made>(what: string, make: () => Promise<Made>): Promise<Made>;
  /** How many have been registered. */
  readonly size: number;
}

interface Account {
  id: number;
  email: string;
  password: string;
  token?: string | undefined;
}

/** Knows of every account what is needed to delete it. */
export interface AccountRegistry extends Pick<Observer, 'exchanged'> {
  /** Deletes all accounts. */
  deleteAll(ask: Send): Promise<void>;
  /** Returns the ids of the accounts that are not deleted. */
  left(): number[];
  readonly size: number;
}

const emailOf = (value: unknown) => String(value).trim().toLowerCase();

export function createAccountRegistry(): AccountRegistry {
  const accounts = new Map<number, Account>();
  const owners = new Map<string, Account>();
  let size = 0;

  async function remove(ask: Send, account: Account): Promise<void> {
    const { email, password } = account;
    for (const fresh of [false, true]) {
      if (fresh) delete account.token;
      if (account.token === undefined) await ask('POST /auth/login', { json: { email, password } });
      if (account.token === undefined) return;
      await ask('DELETE /profiles/me', { token: account.token, json: { password } });
      if (!accounts.has(account.id)) return;
    }
  }

  return {
    get size() {
      return size;
    },

    exchanged(method, path, { json, form, token }, { status, body }) {
      const fields = (json ?? (form instanceof FormData ? Object.fromEntries(form) : form) ?? {}) as Record<
        string,
        unknown
      >;
      const account = owners.get(token ?? '');
      switch (status < 300 && `${method} ${path.split('?', 1)[0]}`) {
        case 'POST /auth/register':
          if (!Number.isInteger(body?.id)) return;
          size += 1;
          accounts.set(body.id, { id: body.id, email: emailOf(fields.email), password: String(fields.password) });
          return;
        case 'POST /auth/login': {
          const known = accounts.get(body?.id);
          if (!known) return;
          known.token = body.token;
          owners.set(body.token, known);
          return;
        }
        case 'PUT /profiles/me':
          if (account && fields.email !== undefined) account.email = emailOf(fields.email);
          if (account && fields.password !== undefined) account.password = String(fields.password);
          return;
        case 'DELETE /profiles/me':
          if (account) accounts.delete(account.id);
      }
    },

    async deleteAll(ask) {
      for (const account of [...accounts.values()]) await remove(ask, account).catch(() => undefined);
    },

    left: () => [...accounts.keys()],
  };
}

/** How many accounts are registered at a time: each costs the service several password hashes. */
const REGISTRATIONS_AT_ONCE = 3;

export function createTestUsers(client: Client, register: AccountRegistry, seed: string): TestUsers {
  const made = new Map<string, Promise<unknown>>();
  const turn = pLimit(REGISTRATIONS_AT_ONCE);
  let drawn = 0;
  const draw = () => {
    drawn += 1;
    return createHash('sha256').update(`${seed} ${drawn}`).digest('hex');
  };
  const createSender = (token?: string): Requester => ({
    send: async (wanted, request, sent) =>
      expectStatus(await client.send(request, { ...(token !== undefined && { token }), ...sent }), wanted),
  });
  const anonymous = createSender();

  const cast: TestUsers = {
    origin: client.origin,
    anonymous,
    get size() {
      return register.size;
    },

    newUser() {
      const hex = draw();
      // A rule has the username in a password, too.
      const username = `kit${inPairs(hex.slice(0, 12))}`;
      const password = `Quiet.7${inPairs(hex.slice(12, 28))}`;
      return { name: 'Contract Tester', username, email: `${username}@example.org`, password };
    },

    login: ({ email, password }, headers = {}) =>
      anonymous.send(200, 'POST /auth/login', { json: { email, password }, headers }),

    register: () =>
      turn(async () => {
        const identity = cast.newUser();
        const { body } = await anonymous.send(201, 'POST /auth/register', { json: identity });
        const { token } = (await cast.login(identity)).body;
        return { ...identity, id: body.id, token, ...createSender(token) };
      }),

    sharedUser: (name) => cast.once(`person ${name}`, cast.register),

    once<Made>(what: string, make: () => Promise<Made>) {
      const found = made.get(what) ?? make();
      made.set(what, found);
      return (found as Promise<Made>).catch((error) => {
        throw error instanceof ExpectationError
          ? new ExpectationError(`${error.expected} (while preparing this rule)`, error.exchange, error.actual)
          : error;
      });
    },
  };
  return cast;
}
