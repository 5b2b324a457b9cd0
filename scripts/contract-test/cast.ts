import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { inPairs } from '../pairs.js';
import type { Ask, Client, Observer } from './client.js';
import type { Answer, Sent } from './exchange.js';
import { Broken, status } from './expect.js';

/** Who a request is from. */
export interface Asker {
  /** Sends a request such as `GET /posts/7`, and answers what came if it is of the status that is wanted. */
  ask(wanted: number | number[], request: string, sent?: Sent): Promise<Answer>;
}

export interface Person extends Asker {
  id: number;
  name: string;
  username: string;
  email: string;
  password: string;
  token: string;
}

export interface Identity {
  name: string;
  username: string;
  email: string;
  password: string;
}

/** The people of a run. Every account that comes into being is remembered, whoever has registered it, to be deleted. */
export interface Cast {
  /** The scheme, host and port of the service. */
  readonly origin: string;
  /** Asks without credentials, or with those that `sent` has. */
  nobody: Asker;
  /** Somebody whom no service knows yet, the same for the same seed. */
  identity(): Identity;
  /** The answer to a login, whose token and cookie it holds. */
  login(who: Pick<Identity, 'email' | 'password'>, headers?: Record<string, string>): Promise<Answer>;
  /** Registers somebody new and logs them in. */
  newcomer(): Promise<Person>;
  /** The person of this name, who is made when first asked for, and shared by all rules that ask. */
  person(name: string): Promise<Person>;
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
export interface Register extends Pick<Observer, 'exchanged'> {
  /** Deletes all accounts. */
  deleteAll(ask: Ask): Promise<void>;
  /** Returns the ids of the accounts that are not deleted. */
  left(): number[];
  readonly size: number;
}

const emailOf = (value: unknown) => String(value).trim().toLowerCase();

export function createRegister(): Register {
  const accounts = new Map<number, Account>();
  const owners = new Map<string, Account>();
  let size = 0;

  async function remove(ask: Ask, account: Account): Promise<void> {
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

export function createCast(client: Client, register: Register, seed: string): Cast {
  const made = new Map<string, Promise<unknown>>();
  const turn = pLimit(REGISTRATIONS_AT_ONCE);
  let drawn = 0;
  const draw = () => {
    drawn += 1;
    return createHash('sha256').update(`${seed} ${drawn}`).digest('hex');
  };
  const asker = (token?: string): Asker => ({
    ask: async (wanted, request, sent) =>
      status(await client.ask(request, { ...(token !== undefined && { token }), ...sent }), wanted),
  });
  const nobody = asker();

  const cast: Cast = {
    origin: client.origin,
    nobody,
    get size() {
      return register.size;
    },

    identity() {
      const hex = draw();
      // A rule has the username in a password, too.
      const username = `kit${inPairs(hex.slice(0, 12))}`;
      const password = `Quiet.7${inPairs(hex.slice(12, 28))}`;
      return { name: 'Contract Tester', username, email: `${username}@example.org`, password };
    },

    login: ({ email, password }, headers = {}) =>
      nobody.ask(200, 'POST /auth/login', { json: { email, password }, headers }),

    newcomer: () =>
      turn(async () => {
        const identity = cast.identity();
        const { body } = await nobody.ask(201, 'POST /auth/register', { json: identity });
        const { token } = (await cast.login(identity)).body;
        return { ...identity, id: body.id, token, ...asker(token) };
      }),

    person: (name) => cast.once(`person ${name}`, cast.newcomer),

    once<Made>(what: string, make: () => Promise<Made>) {
      const found = made.get(what) ?? make();
      made.set(what, found);
      return (found as Promise<Made>).catch((error) => {
        throw error instanceof Broken
          ? new Broken(`${error.expected} (while preparing this rule)`, error.exchange, error.actual)
          : error;
      });
    },
  };
  return cast;
}
