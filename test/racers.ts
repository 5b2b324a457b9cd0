import { randomBytes } from 'node:crypto';
import * as argon2 from '@node-rs/argon2';
import { createAccount, findSecret } from '../db/accounts.js';
import { createSession } from '../db/sessions.js';
import type { Stores } from '../db/stores.js';
import { hashPassword } from '../handlers/password-hash.js';
import type { Tokens } from '../handlers/tokens.js';
import { type Answer, type Ask, PASSWORD } from './harness.js';

/** Somebody who asks whichever service it is the turn of. */
export interface Racer {
  id: number;
  username: string;
  email: string;
  token: string;
  ask(method: string, path: string, ask?: Ask): Promise<Answer>;
  /** Another session of theirs. */
  again(): Promise<Racer>;
}

interface Options {
  stores: Stores;
  tokens: Tokens;
  ask: Racer['ask'];
}

/** The least that Argon2id takes. */
const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/**
 * Makes people as a registration and a login do, without the time that these spend on a password. With `strong` it is
 * stored as a registration stores it, so that a login need not store it anew.
 */
export async function racers({ stores, tokens, ask }: Options) {
  const { db } = stores;
  const [usual, cheap] = [await hashPassword(PASSWORD), await argon2.hash(PASSWORD, CHEAP)];

  async function withSession(person: Pick<Racer, 'id' | 'username' | 'email'>): Promise<Racer> {
    const secret = await findSecret(db, { id: person.id });
    const expiresAt = new Date(Date.now() + 3_600_000);
    const sessionId = secret && (await createSession(stores, secret, { deviceName: 'a racer', expiresAt }));
    if (!sessionId) throw new Error('no session could be made');
    const claims = { accountId: person.id, sessionId, tokenVersion: secret.tokenVersion };
    const token = await tokens.issue(claims, expiresAt);
    return {
      ...person,
      token,
      ask: (method, path, more) => ask(method, path, { token, ...more }),
      again: () => withSession(person),
    };
  }

  return async ({ strong = false } = {}): Promise<Racer> => {
    const username = `u${randomBytes(6).toString('hex')}`;
    const email = `${username}@people.example`;
    const passwordHash = strong ? usual : cheap;
    const created = await createAccount(db, { name: 'A Racer', username, email, passwordHash });
    if (!created) throw new Error('no account could be made');
    return withSession({ id: created.id, username, email });
  };
}
