import { expectEqual, expectThat } from '../../expect.js';
import { withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { getUser } from './requests.js';

export const credentialRules: Rule[] = [
  rule(
    'credentials.twice',
    'Two session cookies without an Authorization header return 401, also in two Cookie headers. With a valid header, cookies are ignored.',
    async (users) => {
      const { token, id } = await getUser(users);
      const Cookie = `fc_session_token=${token}; fc_session_token=${token}`;
      await users.anonymous.send(401, 'GET /auth/me', { headers: { Cookie } });
      const second = 'fc_session_token=stale';
      await users.anonymous.send(401, 'GET /auth/me', { repeated: ['Cookie', `fc_session_token=${token}`, second] });
      const response = await users.anonymous.send(200, 'GET /auth/me', { token, headers: { Cookie } });
      expectEqual(response, 'the account', response.body.id, id);
      const others = `fc_session_token=${token}; x_fc_session_token=1; theme=fc_session_token`;
      await users.anonymous.send(200, 'GET /auth/me', { headers: { Cookie: others } });
    },
  ),

  rule('credentials.ignored', 'Registration and login ignore credentials, even invalid ones.', async (users) => {
    const stale = { Authorization: 'Bearer stale', Cookie: 'fc_session_token=stale' };
    await users.login(await getUser(users), stale);
    await users.anonymous.send(400, 'POST /auth/register', { json: {}, headers: stale });
  }),

  rule(
    'credentials.scheme',
    'The scheme Bearer is compared ignoring case. Other schemes, and a token with additional characters, return 401.',
    async (users) => {
      const { token } = await getUser(users);
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
        `Bearer ${'x'.repeat(8000)}`,
      ]) {
        for (const cookie of [{}, withCookie(token).headers]) {
          const response = await users.anonymous.send(401, 'GET /auth/me', { headers: { Authorization, ...cookie } });
          expectThat(
            /^Bearer\b/.test(response.headers.get('www-authenticate') ?? ''),
            'WWW-Authenticate: Bearer',
            response,
          );
        }
      }
    },
  ),
];
