import { expectClearedCookie, expectEqual, expectProblems, expectThat, expectTimestamp } from '../expect.js';
import { claimsOf, idsOf, withCookie } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers } from '../users.js';

/** The `WWW-Authenticate` of a 401 for an invalid token. */
const INVALID_TOKEN_CHALLENGE = 'Bearer error="invalid_token"';

/** Returns the response to one login, shared by the rules that only read it. */
const sharedLogin = (users: TestUsers) =>
  users.shared('shared login', async () => users.login(await users.sharedUser('sam')));

export const sessions: Subject = {
  name: 'Login and sessions',
  rules: [
    rule(
      'auth.login.success',
      'POST /auth/login returns 200 {id, token, expires_at} and sets the cookie; both authenticate requests.',
      async (users) => {
        const sam = await users.sharedUser('sam');
        const response = await sharedLogin(users);
        expectEqual(response, 'the fields', Object.keys(response.body).sort(), ['expires_at', 'id', 'token']);
        expectEqual(response, 'the id', response.body.id, sam.id);
        await users.anonymous.send(200, 'GET /auth/me', { token: response.body.token });
        await users.anonymous.send(200, 'GET /auth/me', withCookie(response.body.token));
      },
    ),

    rule(
      'auth.cookie.attributes',
      'The cookie fc_session_token has the attributes HttpOnly, SameSite=Lax and Path=/.',
      async (users) => {
        const response = await sharedLogin(users);
        const [pair, ...attributes] = (response.headers.get('set-cookie') ?? '').split(/; */);
        expectEqual(response, 'the cookie', pair, `fc_session_token=${response.body.token}`);
        const found = attributes.map((attribute) => attribute.toLowerCase());
        for (const attribute of ['httponly', 'samesite=lax', 'path=/']) {
          expectThat(found.includes(attribute), `the attribute ${attribute}`, response);
        }
        // The client must not be able to change the Secure attribute.
        const forged = await users.login(await users.sharedUser('sam'), { 'X-Forwarded-Proto': 'https' });
        const isSecure = /; *secure\b/i.test(forged.headers.get('set-cookie') ?? '');
        expectEqual(forged, 'Secure, as without X-Forwarded-Proto', isSecure, found.includes('secure'));
      },
    ),

    rule('auth.cookie.expires', 'The cookie and the token expire at expires_at.', async (users) => {
      const response = await sharedLogin(users);
      const expires = Date.parse(/expires=([^;]+)/i.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? '');
      const { exp, iat } = claimsOf(response.body.token);
      expectEqual(response, 'expires_at', Date.parse(response.body.expires_at), exp * 1000);
      expectEqual(response, 'Expires of the cookie', expires, exp * 1000);
      expectThat(exp > iat, 'an exp after iat', response);
    }),

    rule(
      'auth.token.claims',
      'The token is a signed JWT with the claims sub, jti, tvr, iat, exp, iss and aud.',
      async (users) => {
        const response = await sharedLogin(users);
        const claims = claimsOf(response.body.token);
        expectEqual(response, 'the claims', Object.keys(claims).sort(), [
          'aud',
          'exp',
          'iat',
          'iss',
          'jti',
          'sub',
          'tvr',
        ]);
      },
    ),

    rule(
      'auth.login.expires-at',
      'expires_at of a login is in RFC 3339 format, in UTC with milliseconds.',
      async (users) => {
        const response = await sharedLogin(users);
        expectTimestamp(response, 'expires_at', response.body.expires_at);
      },
    ),

    rule('auth.login.separate-sessions', 'Each login creates a separate session with its own token.', async (users) => {
      const sam = await users.sharedUser('sam');
      const [one, two] = [(await users.login(sam)).body.token, (await users.login(sam)).body.token];
      const response = await users.anonymous.send(200, 'GET /auth/sessions', { token: two });
      expectThat(one !== two && claimsOf(one).jti !== claimsOf(two).jti, 'two tokens for two sessions', response);
      const ids = idsOf<string>(response.body);
      for (const token of [one, two])
        expectThat(ids.includes(claimsOf(token).jti), 'both sessions in the list', response);
    }),

    rule(
      'auth.login.generic-refusal',
      'A failed login returns the same 401 for a wrong email as for a wrong password.',
      async (users) => {
        const { email, password } = await users.sharedUser('sam');
        const failedLogin = async (json: object) => users.anonymous.send(401, 'POST /auth/login', { json });
        const expected = await failedLogin({ email, password: `${password}x` });
        expectEqual(expected, 'WWW-Authenticate', expected.headers.get('www-authenticate'), 'Bearer');
        const unknown = [
          users.newUser().email,
          'no address',
          'kit@mailinator.com',
          '@',
          '',
          `${'x'.repeat(300)}@b.org`,
        ];
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

    rule('auth.login.email-is-normalized', 'Login trims and lowercases the email.', async (users) => {
      const { email, password } = await users.sharedUser('sam');
      await users.login({ email: `  ${email.toUpperCase()} `, password });
    }),

    rule('auth.login.fields', 'POST /auth/login accepts only email and password.', async (users) => {
      const { email, password } = await users.sharedUser('sam');
      const json = { email, password, remember: true };
      expectProblems(await users.anonymous.send(400, 'POST /auth/login', { json }), 'body.remember');
    }),

    rule(
      'auth.login.shape',
      'POST /auth/login requires email and password to be strings, and the password to have at most 128 characters.',
      async (users) => {
        const json = { email: 7, password: 'x'.repeat(129) };
        expectProblems(await users.anonymous.send(400, 'POST /auth/login', { json }), 'body.email', 'body.password');
        expectProblems(
          await users.anonymous.send(400, 'POST /auth/login', { json: {} }),
          'body.email',
          'body.password',
        );
      },
    ),

    rule(
      'sessions.list.current',
      'GET /auth/sessions returns 200 and the sessions of the user; current is true for the session of the request.',
      async (users) => {
        const sam = await users.sharedUser('sam');
        const { token } = (await users.login(sam)).body;
        const response = await users.anonymous.send(200, 'GET /auth/sessions', { token });
        const current = response.body.filter((session: { current: boolean }) => session.current);
        expectEqual(response, 'the current session', idsOf(current), [claimsOf(token).jti]);
      },
    ),

    rule('sessions.list.order', 'Sessions are listed by last use, latest first.', async (users) => {
      const response = await (await users.sharedUser('sam')).send(200, 'GET /auth/sessions');
      const times = response.body.map(({ last_used_at }: { last_used_at: string }) => last_used_at);
      expectEqual(response, 'the order', times, [...times].sort().reverse());
    }),

    rule(
      'sessions.list.device-name',
      'device_name is the User-Agent, trimmed, without control characters and cut to 255 characters, or Unknown device if that is empty.',
      async (users) => {
        const sam = await users.sharedUser('sam');
        for (const [headers, name] of [
          [{ 'User-Agent': `Contract Kit ${'x'.repeat(300)}` }, `Contract Kit ${'x'.repeat(242)}`],
          [{ 'User-Agent': ' \u00a0 Trimmed \t' }, 'Trimmed'],
          [{ 'User-Agent': 'No\tControl\u0085Char\u009facters' }, 'NoControlCharacters'],
          [{ 'User-Agent': '<script>"&' }, '<script>"&'],
          [{}, 'Unknown device'],
          [{ 'User-Agent': '' }, 'Unknown device'],
          [{ 'User-Agent': ' \u0085 ' }, 'Unknown device'],
        ] as [Record<string, string>, string][]) {
          const { token } = (await users.login(sam, headers)).body;
          const response = await users.anonymous.send(200, 'GET /auth/sessions', { token });
          expectEqual(
            response,
            'device_name',
            response.body.find((session: { current: boolean }) => session.current)?.device_name,
            name,
          );
        }
      },
    ),

    rule(
      'auth.logout.ends-session',
      'Logout invalidates the token of the session and clears the cookie.',
      async (users) => {
        const sam = await users.sharedUser('sam');
        const { token } = (await users.login(sam)).body;
        const response = await users.anonymous.send(200, 'POST /auth/logout', { token });
        const cookie = response.headers.get('set-cookie') ?? '';
        expectClearedCookie(response);
        expectThat(/max-age=0|expires=thu, 01 jan 1970/i.test(cookie), 'an expired cookie', response);
        await users.anonymous.send(401, 'GET /auth/verify', { token });
        await users.anonymous.send(401, 'GET /auth/verify', withCookie(token));
        await sam.send(200, 'GET /auth/verify');
        const remaining = await sam.send(200, 'GET /auth/sessions');
        expectThat(!idsOf(remaining.body).includes(claimsOf(token).jti), 'a list without the session', remaining);
      },
    ),

    rule(
      'sessions.delete.ends-session',
      'Deleting a session invalidates its token. Other sessions stay valid, and a second deletion returns 404.',
      async (users) => {
        const sam = await users.sharedUser('sam');
        const { token } = (await users.login(sam)).body;
        const other = (await users.login(sam)).body;
        const response = await sam.send(200, `DELETE /auth/sessions/${claimsOf(token).jti}`);
        expectThat(!response.headers.has('set-cookie'), 'no Set-Cookie', response);
        await users.anonymous.send(401, 'GET /auth/me', { token });
        for (const kept of [sam.token, other.token]) await users.anonymous.send(200, 'GET /auth/me', { token: kept });
        await sam.send(404, `DELETE /auth/sessions/${claimsOf(token).jti}`);
      },
    ),

    rule('sessions.delete.clears-cookie', 'Deleting the current session clears the cookie.', async (users) => {
      const { token } = (await users.login(await users.sharedUser('sam'))).body;
      const response = await users.anonymous.send(200, `DELETE /auth/sessions/${claimsOf(token).jti}`, { token });
      expectClearedCookie(response);
      await users.anonymous.send(401, 'GET /auth/me', { token });
    }),

    rule(
      'sessions.delete.not-own',
      'DELETE /auth/sessions/{id} returns 404 if the session is missing or another user’s, with the same body.',
      async (users) => {
        const sam = await users.sharedUser('sam');
        const other = await users.sharedUser('ada');
        const missing = await sam.send(404, 'DELETE /auth/sessions/00000000-0000-4000-8000-000000000000');
        const foreign = await sam.send(404, `DELETE /auth/sessions/${claimsOf(other.token).jti}`);
        expectEqual(foreign, 'the body, as for a missing one', foreign.body, missing.body);
        await other.send(200, 'GET /auth/verify');
      },
    ),

    rule(
      'sessions.delete.malformed-id',
      'DELETE /auth/sessions/{id} returns 404 for any id that is not one of the user’s sessions, regardless of its form.',
      async (users) => {
        const sam = await users.sharedUser('sam');
        const own: string = claimsOf(sam.token).jti;
        const similar = [own.toUpperCase(), `${own}%00`, `${own}%20`];
        const malformed = ['1', 'abc', '%00', '..%2fme', '%F0%9F%98%80', '%27%20or%20true--', 'x'.repeat(5000)];
        for (const id of [...similar, ...malformed]) {
          const response = await sam.send(404, `DELETE /auth/sessions/${id}`);
          expectThat(!response.headers.has('set-cookie'), 'no Set-Cookie', response);
        }
        await sam.send(200, 'GET /auth/me');
      },
    ),

    rule(
      'sessions.delete-others.keeps-current',
      'DELETE /auth/sessions returns 200 and deletes all sessions of the user except the current one.',
      async (users) => {
        const user = await users.register();
        const stranger = await users.sharedUser('sam');
        const others = [(await users.login(user)).body.token, (await users.login(user)).body.token];
        await user.send(200, 'DELETE /auth/sessions');
        for (const token of others) await users.anonymous.send(401, 'GET /auth/me', { token });
        const response = await user.send(200, 'GET /auth/sessions');
        expectEqual(response, 'the remaining sessions', idsOf(response.body), [claimsOf(user.token).jti]);
        await stranger.send(200, 'GET /auth/me');
        await user.send(200, 'DELETE /auth/sessions');
      },
    ),

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
      'Missing or invalid credentials return 401 with WWW-Authenticate. An invalid Authorization header returns 401 even with a valid cookie.',
      async (users) => {
        const { token } = await users.sharedUser('sam');
        const Cookie = `fc_session_token=${token}`;
        const { body } = await users.anonymous.send(401, 'GET /auth/me');
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
          expectEqual(response, 'the body, equal for all failures', response.body, body);
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
  ],
};
