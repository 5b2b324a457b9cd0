import { claimsOf } from '../../client/index.js';
import { expectCurrentTime, expectEqual, expectThat, expectTimestamp, fieldsOf } from '../../expect.js';
import { withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';
import { userRules } from '../user-rule.js';
import { attributesOf } from './cookies.js';

const samRule = userRules('sam');

/** Returns the response to one login, shared by the rules that only read it. */
const sharedLogin = (users: TestUsers) =>
  users.shared('shared login', async () => users.login(await users.sharedUser('sam')));

export const loginRules: Rule[] = [
  samRule(
    'auth.login.success',
    'POST /auth/login returns 200 {id, token, expires_at} and sets the cookie; both authenticate requests.',
    async ({ id }, users) => {
      const response = await sharedLogin(users);
      expectEqual(response, 'the fields', fieldsOf(response.body), 'expires_at id token');
      expectEqual(response, 'the id', response.body.id, id);
      await users.anonymous.send(200, 'GET /auth/me', { token: response.body.token });
      await users.anonymous.send(200, 'GET /auth/me', withCookie(response.body.token));
    },
  ),

  samRule(
    'auth.cookie.attributes',
    'The cookie fc_session_token has the attributes HttpOnly, SameSite=Lax and Path=/.',
    async (sam, users) => {
      const response = await sharedLogin(users);
      const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0];
      expectEqual(response, 'the cookie', cookie, `fc_session_token=${response.body.token}`);
      const attributes = attributesOf(response);
      for (const attribute of ['httponly', 'samesite=lax', 'path=/']) {
        expectThat(attributes.includes(attribute), `the attribute ${attribute}`, response);
      }
      // The client must not be able to change the Secure attribute.
      const forged = await users.login(sam, { 'X-Forwarded-Proto': 'https' });
      expectEqual(forged, 'the attributes, as without X-Forwarded-Proto', attributesOf(forged), attributes);
    },
  ),

  rule(
    'auth.cookie.expires',
    'The cookie and the token expire at expires_at, which is in RFC 3339 format, in UTC with milliseconds.',
    async (users) => {
      const response = await sharedLogin(users);
      const cookie = response.headers.get('set-cookie') ?? '';
      const expires = Date.parse(/expires=([^;]+)/i.exec(cookie)?.[1] ?? '');
      const { exp, iat } = claimsOf(response.body.token);
      expectEqual(response, 'expires_at', Date.parse(response.body.expires_at), exp * 1000);
      expectEqual(response, 'Expires of the cookie', expires, exp * 1000);
      expectTimestamp(response, 'expires_at', response.body.expires_at);
      expectThat(exp > iat, 'an exp after iat', response);
      // Max-Age is optional and takes precedence over Expires.
      const maxAge = Number(/max-age=(\d+)/i.exec(cookie)?.[1] ?? exp - iat);
      expectThat(Math.abs(maxAge - (exp - iat)) <= 1, 'a Max-Age of the cookie, if any, until exp', response);
    },
  ),

  rule(
    'auth.token.claims',
    'The token is a signed JWT with the claims sub, jti, tvr, iat, exp, iss and aud. iat is the time of the login.',
    async (users) => {
      const response = await sharedLogin(users);
      const claims = claimsOf(response.body.token);
      expectEqual(response, 'the claims', fieldsOf(claims), 'aud exp iat iss jti sub tvr');
      expectCurrentTime(response, 'iat', new Date(1000 * claims.iat).toISOString());
    },
  ),

  samRule(
    'auth.login.generic-refusal',
    'A failed login returns the same 401 for a wrong email as for a wrong password.',
    async ({ email, password }, users) => {
      const failedLogin = async (json: object) => users.anonymous.send(401, 'POST /auth/login', { json });
      const expected = await failedLogin({ email, password: `${password}x` });
      expectEqual(expected, 'WWW-Authenticate', expected.headers.get('www-authenticate'), 'Bearer');
      const unknown = [users.newUser().email, 'no address', 'test@mailinator.com', '@', '', `${'x'.repeat(300)}@b.org`];
      for (const json of [
        ...unknown.map((address) => ({ email: address, password })),
        ...['', ' ', 'x'.repeat(128)].map((other) => ({ email, password: other })),
      ]) {
        const response = await failedLogin(json);
        expectEqual(response, 'the body', response.body, expected.body);
        expectEqual(response, 'the names of the headers', [...response.headers.keys()], [...expected.headers.keys()]);
        expectEqual(response, 'WWW-Authenticate', response.headers.get('www-authenticate'), 'Bearer');
      }
    },
  ),
];
