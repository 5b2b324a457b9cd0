import { claimsOf, contract, INVALID_TOKEN_CHALLENGE } from '../../client/index.js';
import { expectCode, expectEqual, expectThat } from '../../expect.js';
import { withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { validRequest } from '../operations.js';
import { startSession } from '../session.js';
import { userRules } from '../user-rule.js';

const samRule = userRules('sam');

const AUTHENTICATED = contract.filter(({ requiresAuthentication }) => requiresAuthentication);

export const credentialRules: Rule[] = [
  samRule('auth.token.forged', 'A modified or unsigned token returns 401.', async ({ token }, users) => {
    const [header, , signature] = token.split('.');
    const encode = (json: string) => Buffer.from(json).toString('base64url');
    const encodeClaims = (claims: object) => encode(JSON.stringify({ ...claimsOf(token), ...claims }));
    const otherId = String((await users.sharedUser('ada')).id);
    const unsignedHeader = encode('{"alg":"none","typ":"JWT"}');
    for (const changed of [
      `${header}.${encodeClaims({ sub: otherId })}.${signature}`,
      `${header}.${encodeClaims({ tvr: 99 })}.${signature}`,
      `${header}.${encode('[]')}.${signature}`,
      `${encode('{"alg":"HS256"}')}.${encodeClaims({})}.${signature}`,
      `${unsignedHeader}.${encodeClaims({})}.${signature}`,
      `${unsignedHeader}.${encodeClaims({})}.`,
      `${header}.${encodeClaims({})}.`,
      `${header}.${encodeClaims({})}`,
      `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`,
      'abc',
    ]) {
      await users.anonymous.send(401, 'GET /auth/me', { token: changed });
    }
  }),

  samRule(
    'auth.credentials.refused',
    'Missing credentials return 401 missing_credentials, and a rejected token returns 401 invalid_token, both with WWW-Authenticate, also for HEAD. An invalid Authorization header returns 401 even with a valid cookie.',
    async ({ token }, users) => {
      const Cookie = `fc_session_token=${token}`;
      const missing = await users.anonymous.send(401, 'GET /auth/me');
      const refused = await users.anonymous.send(401, 'GET /auth/me', { token: 'stale' });
      expectCode(missing, 'missing_credentials');
      expectCode(refused, 'invalid_token');
      for (const [headers, challenge] of [
        [{}, 'Bearer'],
        [{ Cookie: 'fc_session_token=' }, 'Bearer'],
        [{ Cookie: `token=${token}; FC_SESSION_TOKEN=${token}` }, 'Bearer'],
        [{ Cookie: 'fc_session_token=stale' }, INVALID_TOKEN_CHALLENGE],
        [{ Cookie: `${Cookie}x` }, INVALID_TOKEN_CHALLENGE],
        [{ Cookie: `fc_session_token=Bearer ${token}` }, INVALID_TOKEN_CHALLENGE],
        [{ Cookie: `${Cookie}; fc_session_token=stale` }, INVALID_TOKEN_CHALLENGE],
        [{ Cookie, Authorization: 'Bearer stale' }, INVALID_TOKEN_CHALLENGE],
        [{ Cookie, Authorization: 'Basic bWlyYTptaXJh' }, 'Bearer'],
        [{ Cookie, Authorization: '' }, 'Bearer'],
        [{ Authorization: token }, 'Bearer'],
        [{ Authorization: 'Bearer' }, INVALID_TOKEN_CHALLENGE],
        [{ Authorization: 'Bearer two words' }, INVALID_TOKEN_CHALLENGE],
        [{ Cookie: `theme=dark; fc_session_token=; ${Cookie}` }, INVALID_TOKEN_CHALLENGE],
      ] as [Record<string, string>, string][]) {
        const response = await users.anonymous.send(401, 'GET /auth/me', { headers });
        const head = await users.anonymous.send(401, 'HEAD /auth/me', { headers });
        for (const refusal of [response, head])
          expectEqual(refusal, 'WWW-Authenticate', refusal.headers.get('www-authenticate'), challenge);
        const { body } = challenge === INVALID_TOKEN_CHALLENGE ? refused : missing;
        expectEqual(response, 'the body, equal for all such failures', response.body, body);
      }
    },
  ),

  rule(
    'auth.credentials.revoked',
    'The token of a session that has ended returns 401 invalid_token from every operation that requires authentication, even if the session was used before.',
    async (users) => {
      const user = await users.register();
      const session = await startSession(users, user);
      // A service may cache sessions that were used.
      for (const operation of AUTHENTICATED.filter(({ method }) => method === 'GET'))
        await session.send([200, 404], validRequest(operation));
      await user.send(200, `DELETE /auth/sessions/${session.id}`);
      for (const operation of AUTHENTICATED)
        expectCode(await session.send(401, validRequest(operation)), 'invalid_token');
    },
  ),

  samRule(
    'auth.credentials.header-first',
    'A valid Authorization header takes precedence over any cookie, valid or not.',
    async ({ id, send }, users) => {
      const other = await users.sharedUser('ada');
      for (const cookie of [other.token, 'stale', '']) {
        const response = await send(200, 'GET /auth/me', withCookie(cookie));
        expectEqual(response, 'the id of the account', response.body.id, id);
      }
    },
  ),

  samRule(
    'credentials.twice',
    'Two session cookies without an Authorization header return 401, also in two Cookie headers. With a valid header, cookies are ignored.',
    async ({ token, id, send }, { anonymous }) => {
      const cookie = `fc_session_token=${token}`;
      const headers = { Cookie: `${cookie}; ${cookie}` };
      await anonymous.send(401, 'GET /auth/me', { headers });
      await anonymous.send(401, 'GET /auth/me', { repeated: ['Cookie', cookie, 'fc_session_token=stale'] });
      const response = await send(200, 'GET /auth/me', { headers });
      expectEqual(response, 'the account', response.body.id, id);
      const Cookie = `${cookie}; x_fc_session_token=1; theme=fc_session_token`;
      await anonymous.send(200, 'GET /auth/me', { headers: { Cookie } });
    },
  ),

  samRule(
    'credentials.ignored',
    'Registration and login ignore credentials, even invalid ones.',
    async (user, users) => {
      const stale = { Authorization: 'Bearer stale', Cookie: 'fc_session_token=stale' };
      await users.login(user, stale);
      await users.anonymous.send(400, 'POST /auth/register', { json: {}, headers: stale });
    },
  ),

  samRule(
    'credentials.scheme',
    'The scheme Bearer is compared ignoring case. Other schemes, and a token with additional characters, return 401.',
    async ({ token }, users) => {
      for (const Authorization of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`]) {
        await users.anonymous.send(200, 'GET /auth/me', { headers: { Authorization } });
      }
      for (const Authorization of [
        token,
        `Token ${token}`,
        `Basic ${token}`,
        `Bearer ${token}x`,
        `Bearer ${token} x`,
        'Bearer',
        `Bearer ${token.slice(0, -3)}`,
        `Bearer "${token}"`,
        `Bearer${token}`,
        `Bearer:${token}`,
        `Bearer\t${token}`,
        `Bearer token=${token}`,
        `Bearer ${token}, Bearer ${token}`,
        `Bearer ${'x'.repeat(4000)}`,
      ]) {
        for (const cookie of [{}, withCookie(token).headers]) {
          const response = await users.anonymous.send(401, 'GET /auth/me', { headers: { Authorization, ...cookie } });
          const challenge = response.headers.get('www-authenticate') ?? '';
          expectThat(/^Bearer\b/.test(challenge), 'WWW-Authenticate: Bearer', response);
        }
      }
    },
  ),
];
