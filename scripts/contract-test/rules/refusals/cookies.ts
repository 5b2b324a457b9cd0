import type { CheckedResponse } from '../../exchange.js';
import { expectCode, expectEqual, expectThat } from '../../expect.js';
import { claimsOf, withCookie } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { TestUsers, User } from '../../users.js';

/** Returns the attributes of the cookie in a response, without its value and expiry. */
const attributesOf = (response: CheckedResponse): string[] =>
  (response.headers.get('set-cookie') ?? '')
    .split(/; */)
    .slice(1)
    .map((attribute) => attribute.toLowerCase())
    .filter((attribute) => !/^(expires|max-age)=/.test(attribute))
    .sort();

/** Throws an ExpectationError unless the token of a session that has ended is rejected, in the header and in the cookie. */
async function expectRevoked({ anonymous }: TestUsers, token: string): Promise<void> {
  for (const sent of [{ token }, withCookie(token)])
    expectCode(await anonymous.send(401, 'GET /auth/me', sent), 'invalid_token');
}

interface Login {
  user: User;
  token: string;
  session: string;
}

const ENDINGS_OF_CURRENT_SESSION: [
  id: string,
  description: string,
  endSession: (users: TestUsers, login: Login) => Promise<CheckedResponse>,
][] = [
  [
    'logout',
    'POST /auth/logout',
    (users, { token }) => users.anonymous.send(200, 'POST /auth/logout', withCookie(token)),
  ],
  [
    'session',
    'DELETE /auth/sessions/{id} of the current session',
    (users, { token, session }) => users.anonymous.send(200, `DELETE /auth/sessions/${session}`, { token }),
  ],
  [
    'password',
    'PUT /profiles/me with a new password',
    (users, { token, user: { password: current_password } }) => {
      const form = { password: users.newUser().password, current_password };
      return users.anonymous.send(200, 'PUT /profiles/me', { token, form });
    },
  ],
  [
    'account',
    'DELETE /profiles/me',
    (users, { token, user: { password } }) =>
      users.anonymous.send(200, 'DELETE /profiles/me', { token, json: { password } }),
  ],
];

export const clearedCookieRules = ENDINGS_OF_CURRENT_SESSION.map(([id, description, endSession]) =>
  rule(
    `cookie.cleared.${id}`,
    `${description} clears the cookie with the attributes that it was set with. A request with the token of the session then returns 401 invalid_token, whether the token is in the header or in the cookie.`,
    async (users) => {
      const user = await users.register();
      const login = await users.login(user);
      const token: string = login.body.token;
      const session = claimsOf(token).jti;
      const response = await endSession(users, { user, token, session });
      const cookie = response.headers.get('set-cookie') ?? '';
      expectThat(/^fc_session_token=(""|);/.test(cookie), 'an empty cookie fc_session_token', response);
      expectThat(/max-age=0\b|expires=thu, 01 jan 1970/i.test(cookie), 'an expired cookie', response);
      expectEqual(response, 'the attributes, as they were set', attributesOf(response), attributesOf(login));
      for (const attribute of ['httponly', 'path=/', 'samesite=lax']) {
        expectThat(attributesOf(login).includes(attribute), attribute, login);
      }
      await expectRevoked(users, token);
    },
  ),
);

const ENDINGS_OF_OTHER_SESSIONS: [id: string, description: string, request: (login: Login) => string][] = [
  ['others', 'DELETE /auth/sessions', () => 'DELETE /auth/sessions'],
  ['another', 'DELETE /auth/sessions/{id} of another session', ({ session }) => `DELETE /auth/sessions/${session}`],
];

export const keptCookieRules = ENDINGS_OF_OTHER_SESSIONS.map(([id, description, request]) =>
  rule(
    `cookie.kept.${id}`,
    `${description} affects neither the cookie nor the current session. Requests with the token of the ended session return 401 invalid_token.`,
    async (users) => {
      const user = await users.register();
      const token: string = (await users.login(user)).body.token;
      const session = claimsOf(token).jti;
      // A service may cache sessions that were used.
      await users.anonymous.send(200, 'GET /auth/me', { token });
      const response = await users.anonymous.send(200, request({ user, token, session }), withCookie(user.token));
      expectThat(!response.headers.has('set-cookie'), 'no Set-Cookie', response);
      await user.send(200, 'GET /auth/me');
      await expectRevoked(users, token);
    },
  ),
);
