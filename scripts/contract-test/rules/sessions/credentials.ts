import { INVALID_TOKEN_CHALLENGE } from '../../conformance.js';
import { expectCode, expectEqual } from '../../expect.js';
import { claimsOf, withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

export const credentialRules: Rule[] = [
  rule('auth.token.forged', 'A modified or unsigned token returns 401.', async (users) => {
    const { token } = await users.sharedUser('sam');
    const [header, , signature] = token.split('.');
    const encodeClaims = (claims: object) =>
      Buffer.from(JSON.stringify({ ...claimsOf(token), ...claims })).toString('base64url');
    const otherId = String((await users.sharedUser('ada')).id);
    const encode = (json: string) => Buffer.from(json).toString('base64url');
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

  rule(
    'auth.credentials.refused',
    'Missing credentials return 401 missing_credentials, and a rejected token returns 401 invalid_token, both with WWW-Authenticate. An invalid Authorization header returns 401 even with a valid cookie.',
    async (users) => {
      const { token } = await users.sharedUser('sam');
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
        expectEqual(response, 'WWW-Authenticate', response.headers.get('www-authenticate'), challenge);
        const { body } = challenge === INVALID_TOKEN_CHALLENGE ? refused : missing;
        expectEqual(response, 'the body, equal for all such failures', response.body, body);
      }
    },
  ),

  rule(
    'auth.credentials.header-first',
    'A valid Authorization header takes precedence over any cookie, valid or not.',
    async (users) => {
      const { id, token } = await users.sharedUser('sam');
      const other = await users.sharedUser('ada');
      for (const cookie of [other.token, 'stale', '']) {
        const response = await users.anonymous.send(200, 'GET /auth/me', { token, ...withCookie(cookie) });
        expectEqual(response, 'the id of the account', response.body.id, id);
      }
    },
  ),
];
