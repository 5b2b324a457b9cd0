import { type CheckedResponse, claimsOf } from '../client/index.js';
import type { Requester, TestUsers, User } from '../users.js';

/** A session of a user. `send` uses its token. */
export interface Session extends Requester {
  id: string;
  token: string;
  /** The response to the login that created the session. */
  login: CheckedResponse;
}

/** Logs in and returns the new session. */
export async function startSession(
  users: TestUsers,
  user: Pick<User, 'email' | 'password'>,
  headers?: Record<string, string>,
): Promise<Session> {
  const login = await users.login(user, headers);
  const token: string = login.body.token;
  return {
    // Decoded on access: a rule that needs no id passes even if the token is not a JWT.
    get id() {
      return claimsOf(token).jti;
    },
    token,
    login,
    send: (expected, request, content) => users.anonymous.send(expected, request, { token, ...content }),
  };
}
