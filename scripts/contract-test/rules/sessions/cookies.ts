import type { CheckedResponse, RequestContent } from '../../client/index.js';
import { expectCode, expectEqual, expectThat } from '../../expect.js';
import { withCookie } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';
import { type Session, startSession } from '../session.js';

/** Returns the attributes of the cookie in a response, in lower case, without its value and expiry. */
export const attributesOf = (response: CheckedResponse): string[] =>
  (response.headers.get('set-cookie') ?? '')
    .split(/; */)
    .slice(1)
    .map((attribute) => attribute.toLowerCase())
    .filter((attribute) => !/^(expires|max-age)=/.test(attribute))
    .sort();

/** Throws an ExpectationError unless the token of a session that has ended is rejected, in the header and in the cookie. */
async function expectRevoked({ anonymous }: TestUsers, { token }: Session): Promise<void> {
  for (const content of [{ token }, withCookie(token)])
    expectCode(await anonymous.send(401, 'GET /auth/me', content), 'invalid_token');
}

const CURRENT_SESSION_ENDINGS: [
  id: string,
  description: string,
  requestFor: (session: Session, password: string, newPassword: string) => [request: string, content: RequestContent],
][] = [
  ['logout', 'POST /auth/logout', ({ token }) => ['POST /auth/logout', withCookie(token)]],
  ['logout-without-cookie', 'POST /auth/logout without a cookie', ({ token }) => ['POST /auth/logout', { token }]],
  [
    'session',
    'DELETE /auth/sessions/{id} of the current session',
    ({ id, token }) => [`DELETE /auth/sessions/${id}`, { token }],
  ],
  [
    'password',
    'PUT /profiles/me with a new password',
    ({ token }, current_password, password) => ['PUT /profiles/me', { token, form: { password, current_password } }],
  ],
  ['account', 'DELETE /profiles/me', ({ token }, password) => ['DELETE /profiles/me', { token, json: { password } }]],
];

const OTHER_SESSION_ENDINGS: [id: string, description: string, requestFor: (session: Session) => string][] = [
  ['others', 'DELETE /auth/sessions', () => 'DELETE /auth/sessions'],
  ['another', 'DELETE /auth/sessions/{id} of another session', ({ id }) => `DELETE /auth/sessions/${id}`],
];

export const cookieRules = [
  ...CURRENT_SESSION_ENDINGS.map(([id, description, requestFor]) =>
    rule(
      `cookie.cleared.${id}`,
      `${description} clears the cookie with the attributes that it was set with. A request with the token of the session then returns 401 invalid_token, whether the token is in the header or in the cookie.`,
      async (users) => {
        const user = await users.register();
        const session = await startSession(users, user);
        const request = requestFor(session, user.password, users.newUser().password);
        const response = await users.anonymous.send(200, ...request);
        const cookie = response.headers.get('set-cookie') ?? '';
        expectThat(/^fc_session_token=(""|);/.test(cookie), 'an empty cookie fc_session_token', response);
        expectThat(/max-age=0\b|expires=thu, 01 jan 1970/i.test(cookie), 'an expired cookie', response);
        expectEqual(response, 'the attributes, as they were set', attributesOf(response), attributesOf(session.login));
        await expectRevoked(users, session);
      },
    ),
  ),

  ...OTHER_SESSION_ENDINGS.map(([id, description, requestFor]) =>
    rule(
      `cookie.kept.${id}`,
      `${description} affects neither the cookie nor the current session. Requests with the token of the ended session return 401 invalid_token.`,
      async (users) => {
        const user = await users.register();
        const session = await startSession(users, user);
        // A service may cache sessions that were used.
        await session.send(200, 'GET /auth/me');
        const response = await users.anonymous.send(200, requestFor(session), withCookie(user.token));
        expectThat(!response.headers.has('set-cookie'), 'no Set-Cookie', response);
        await user.send(200, 'GET /auth/me');
        await expectRevoked(users, session);
      },
    ),
  ),
];
