import { expectEqual, expectProblems, expectThat } from '../expect.js';
import { byCookie } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers } from '../users.js';
import { claimsOf } from './passwords.js';

/** The `WWW-Authenticate` of a 401 for a token that was sent and refused. */
const REFUSED = 'Bearer error="invalid_token"';

/** One login, for all rules that look at its answer alone. */
const aLogin = (cast: TestUsers) => cast.once('a login', async () => cast.login(await cast.sharedUser('sam')));

export const sessions: Subject = {
  name: 'Login and sessions',
  rules: [
    rule(
      'auth.login.success',
      'POST /auth/login returns 200 {id, token, expires_at} and sets the cookie; both authenticate requests.',
      async (cast) => {
        const sam = await cast.sharedUser('sam');
        const answer = await aLogin(cast);
        expectEqual(answer, 'the fields', Object.keys(answer.body).sort(), ['expires_at', 'id', 'token']);
        expectEqual(answer, 'the id', answer.body.id, sam.id);
        await cast.anonymous.send(200, 'GET /auth/me', { token: answer.body.token });
        await cast.anonymous.send(200, 'GET /auth/me', byCookie(answer.body.token));
      },
    ),

    rule(
      'auth.cookie.attributes',
      'The cookie fc_session_token has the attributes HttpOnly, SameSite=Lax and Path=/.',
      async (cast) => {
        const answer = await aLogin(cast);
        const [pair, ...attributes] = (answer.headers.get('set-cookie') ?? '').split(/; */);
        expectEqual(answer, 'the cookie', pair, `fc_session_token=${answer.body.token}`);
        const found = attributes.map((attribute) => attribute.toLowerCase());
        for (const attribute of ['httponly', 'samesite=lax', 'path=/']) {
          expectThat(found.includes(attribute), `the attribute ${attribute}`, answer);
        }
        // Whether it is Secure is not for the client to say.
        const forged = await cast.login(await cast.sharedUser('sam'), { 'X-Forwarded-Proto': 'https' });
        const isSecure = /; *secure\b/i.test(forged.headers.get('set-cookie') ?? '');
        expectEqual(forged, 'Secure, as without X-Forwarded-Proto', isSecure, found.includes('secure'));
      },
    ),

    rule('auth.cookie.expires', 'The cookie expires with the token, at expires_at.', async (cast) => {
      const answer = await aLogin(cast);
      const expires = Date.parse(/expires=([^;]+)/i.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '');
      const { exp, iat } = claimsOf(answer.body.token);
      expectEqual(answer, 'expires_at', Date.parse(answer.body.expires_at), exp * 1000);
      expectEqual(answer, 'Expires of the cookie', expires, exp * 1000);
      expectThat(exp > iat, 'an expiry that is to come', answer);
    }),

    rule(
      'auth.token.claims',
      'The token is a signed JWT with the claims sub, jti, tvr, iat, exp, iss and aud.',
      async (cast) => {
        const answer = await aLogin(cast);
        const claims = claimsOf(answer.body.token);
        expectEqual(answer, 'the claims', Object.keys(claims).sort(), [
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

    rule('auth.login.expires-at', 'expires_at is in RFC 3339, UTC, with milliseconds.', async (cast) => {
      const answer = await aLogin(cast);
      expectThat(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(answer.body.expires_at),
        'expires_at with milliseconds in UTC',
        answer,
      );
    }),

    rule('auth.login.separate-sessions', 'Each login creates a separate session with its own token.', async (cast) => {
      const sam = await cast.sharedUser('sam');
      const [one, two] = [(await cast.login(sam)).body.token, (await cast.login(sam)).body.token];
      const answer = await cast.anonymous.send(200, 'GET /auth/sessions', { token: two });
      expectThat(one !== two && claimsOf(one).jti !== claimsOf(two).jti, 'two tokens for two sessions', answer);
      const ids = answer.body.map(({ id }: { id: string }) => id);
      for (const token of [one, two])
        expectThat(ids.includes(claimsOf(token).jti), 'both sessions in the list', answer);
    }),

    rule(
      'auth.login.generic-refusal',
      'A failed login returns a generic 401 that does not say which field was wrong.',
      async (cast) => {
        const { email, password } = await cast.sharedUser('sam');
        const wrong = async (json: object) => cast.anonymous.send(401, 'POST /auth/login', { json });
        const expected = await wrong({ email, password: `${password}x` });
        expectEqual(expected, 'WWW-Authenticate', expected.headers.get('www-authenticate'), 'Bearer');
        const unknown = [cast.newUser().email, 'no address', 'kit@mailinator.com', '@', '', `${'x'.repeat(300)}@b.org`];
        for (const json of [
          ...unknown.map((address) => ({ email: address, password })),
          ...['', ' ', 'x'.repeat(128)].map((other) => ({ email, password: other })),
        ]) {
          const answer = await wrong(json);
          expectEqual(answer, 'the body', answer.body, expected.body);
          expectEqual(answer, 'the names of the headers', [...answer.headers.keys()], [...expected.headers.keys()]);
          expectEqual(answer, 'WWW-Authenticate', answer.headers.get('www-authenticate'), 'Bearer');
        }
      },
    ),

    rule('auth.login.email-is-normalized', 'Login trims and lowercases the email.', async (cast) => {
      const { email, password } = await cast.sharedUser('sam');
      await cast.login({ email: `  ${email.toUpperCase()} `, password });
    }),

    rule('auth.login.fields', 'Login takes only email and password.', async (cast) => {
      const { email, password } = await cast.sharedUser('sam');
      const json = { email, password, remember: true };
      expectProblems(await cast.anonymous.send(400, 'POST /auth/login', { json }), 'body.remember');
    }),

    rule(
      'auth.login.shape',
      'Login checks that email and password are strings and that the password has at most 128 characters.',
      async (cast) => {
        const json = { email: 7, password: 'x'.repeat(129) };
        expectProblems(await cast.anonymous.send(400, 'POST /auth/login', { json }), 'body.email', 'body.password');
        expectProblems(await cast.anonymous.send(400, 'POST /auth/login', { json: {} }), 'body.email', 'body.password');
      },
    ),

    rule(
      'sessions.list.current',
      'GET /auth/sessions returns 200 and the sessions of the user; current is true for the session that makes the request.',
      async (cast) => {
        const sam = await cast.sharedUser('sam');
        const { token } = (await cast.login(sam)).body;
        const answer = await cast.anonymous.send(200, 'GET /auth/sessions', { token });
        const current = answer.body.filter((session: { current: boolean }) => session.current);
        expectEqual(
          answer,
          'the current session',
          current.map(({ id }: { id: string }) => id),
          [claimsOf(token).jti],
        );
      },
    ),

    rule('sessions.list.order', 'Sessions are listed last used first.', async (cast) => {
      const answer = await (await cast.sharedUser('sam')).send(200, 'GET /auth/sessions');
      const times = answer.body.map(({ last_used_at }: { last_used_at: string }) => last_used_at);
      expectEqual(answer, 'the order', times, [...times].sort().reverse());
    }),

    rule(
      'sessions.list.device-name',
      'device_name is the User-Agent, trimmed, without control characters, at most 255 characters; Unknown device without one.',
      async (cast) => {
        const sam = await cast.sharedUser('sam');
        for (const [headers, name] of [
          [{ 'User-Agent': `Contract Kit ${'x'.repeat(300)}` }, `Contract Kit ${'x'.repeat(242)}`],
          [{ 'User-Agent': ' \u00a0 Trimmed \t' }, 'Trimmed'],
          [{ 'User-Agent': 'No\tControl\u0085Char\u009facters' }, 'NoControlCharacters'],
          [{ 'User-Agent': '<script>"&' }, '<script>"&'],
          [{}, 'Unknown device'],
          [{ 'User-Agent': '' }, 'Unknown device'],
          [{ 'User-Agent': ' \u0085 ' }, 'Unknown device'],
        ] as [Record<string, string>, string][]) {
          const { token } = (await cast.login(sam, headers)).body;
          const answer = await cast.anonymous.send(200, 'GET /auth/sessions', { token });
          expectEqual(
            answer,
            'device_name',
            answer.body.find((session: { current: boolean }) => session.current)?.device_name,
            name,
          );
        }
      },
    ),

    rule(
      'auth.logout.ends-session',
      'Logout invalidates the token of the session and clears the cookie.',
      async (cast) => {
        const sam = await cast.sharedUser('sam');
        const { token } = (await cast.login(sam)).body;
        const answer = await cast.anonymous.send(200, 'POST /auth/logout', { token });
        const cookie = answer.headers.get('set-cookie') ?? '';
        expectThat(
          /^fc_session_token=;/.test(cookie) && /max-age=0|expires=thu, 01 jan 1970/i.test(cookie),
          'a cleared cookie',
          answer,
        );
        await cast.anonymous.send(401, 'GET /auth/verify', { token });
        await cast.anonymous.send(401, 'GET /auth/verify', byCookie(token));
        await sam.send(200, 'GET /auth/verify');
        const left = await sam.send(200, 'GET /auth/sessions');
        expectThat(
          !left.body.some(({ id }: { id: string }) => id === claimsOf(token).jti),
          'the session gone from the list',
          left,
        );
      },
    ),

    rule(
      'sessions.delete.ends-session',
      'Deleting a session invalidates its token. The other sessions stay, and a second deletion returns 404.',
      async (cast) => {
        const sam = await cast.sharedUser('sam');
        const { token } = (await cast.login(sam)).body;
        const other = (await cast.login(sam)).body;
        const answer = await sam.send(200, `DELETE /auth/sessions/${claimsOf(token).jti}`);
        expectThat(!answer.headers.has('set-cookie'), 'the own cookie left alone', answer);
        await cast.anonymous.send(401, 'GET /auth/me', { token });
        for (const kept of [sam.token, other.token]) await cast.anonymous.send(200, 'GET /auth/me', { token: kept });
        await sam.send(404, `DELETE /auth/sessions/${claimsOf(token).jti}`);
      },
    ),

    rule(
      'sessions.delete.clears-cookie',
      'The cookie is cleared when the current session is deleted.',
      async (cast) => {
        const { token } = (await cast.login(await cast.sharedUser('sam'))).body;
        const answer = await cast.anonymous.send(200, `DELETE /auth/sessions/${claimsOf(token).jti}`, { token });
        expectThat(/^fc_session_token=;/.test(answer.headers.get('set-cookie') ?? ''), 'a cleared cookie', answer);
        await cast.anonymous.send(401, 'GET /auth/me', { token });
      },
    ),

    rule(
      'sessions.delete.not-own',
      'DELETE /auth/sessions/{id} returns 404 if the session is missing or another user’s, with the same body.',
      async (cast) => {
        const sam = await cast.sharedUser('sam');
        const other = await cast.sharedUser('ada');
        const missing = await sam.send(404, 'DELETE /auth/sessions/00000000-0000-4000-8000-000000000000');
        const foreign = await sam.send(404, `DELETE /auth/sessions/${claimsOf(other.token).jti}`);
        expectEqual(foreign, 'the body, as for a missing one', foreign.body, missing.body);
        await other.send(200, 'GET /auth/verify');
      },
    ),

    rule(
      'sessions.delete.malformed-id',
      'DELETE /auth/sessions/{id} returns 404 for an id of any shape that is not one of the user’s sessions.',
      async (cast) => {
        const sam = await cast.sharedUser('sam');
        const own: string = claimsOf(sam.token).jti;
        const similar = [own.toUpperCase(), `${own}%00`, `${own}%20`];
        const malformed = ['1', 'abc', '%00', '..%2fme', '%F0%9F%98%80', '%27%20or%20true--', 'x'.repeat(5000)];
        for (const id of [...similar, ...malformed]) {
          const answer = await sam.send(404, `DELETE /auth/sessions/${id}`);
          expectThat(!answer.headers.has('set-cookie'), 'the cookie left alone', answer);
        }
        await sam.send(200, 'GET /auth/me');
      },
    ),

    rule(
      'sessions.delete-others.keeps-current',
      'DELETE /auth/sessions returns 200 and deletes every session except the current one, and no other user’s.',
      async (cast) => {
        const sam = await cast.register();
        const stranger = await cast.sharedUser('sam');
        const others = [(await cast.login(sam)).body.token, (await cast.login(sam)).body.token];
        await sam.send(200, 'DELETE /auth/sessions');
        for (const token of others) await cast.anonymous.send(401, 'GET /auth/me', { token });
        const answer = await sam.send(200, 'GET /auth/sessions');
        expectEqual(
          answer,
          'the sessions left',
          answer.body.map(({ id }: { id: string }) => id),
          [claimsOf(sam.token).jti],
        );
        await stranger.send(200, 'GET /auth/me');
        await sam.send(200, 'DELETE /auth/sessions');
      },
    ),

    rule('auth.token.forged', 'A token that was changed or is not signed returns 401.', async (cast) => {
      const { token } = await cast.sharedUser('sam');
      const [head, , signature] = token.split('.');
      const forged = (claims: object) =>
        Buffer.from(JSON.stringify({ ...claimsOf(token), ...claims })).toString('base64url');
      const other = String((await cast.sharedUser('ada')).id);
      const encoded = (header: string) => Buffer.from(header).toString('base64url');
      const none = encoded('{"alg":"none","typ":"JWT"}');
      for (const changed of [
        `${head}.${forged({ sub: other })}.${signature}`,
        `${head}.${forged({ tvr: 99 })}.${signature}`,
        `${head}.${encoded('[]')}.${signature}`,
        `${encoded('{"alg":"HS256"}')}.${forged({})}.${signature}`,
        `${none}.${forged({})}.${signature}`,
        `${none}.${forged({})}.`,
        `${head}.${forged({})}.`,
        `${head}.${forged({})}`,
        `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`,
        'abc',
      ]) {
        await cast.anonymous.send(401, 'GET /auth/me', { token: changed });
      }
    }),

    rule(
      'auth.credentials.refused',
      'Missing or malformed credentials return 401 with WWW-Authenticate; a bad header is not rescued by a good cookie.',
      async (cast) => {
        const { token } = await cast.sharedUser('sam');
        const Cookie = `fc_session_token=${token}`;
        const { body } = await cast.anonymous.send(401, 'GET /auth/me');
        for (const [headers, challenge] of [
          [{}, 'Bearer'],
          [{ Cookie: 'fc_session_token=' }, 'Bearer'],
          [{ Cookie: `token=${token}; FC_SESSION_TOKEN=${token}` }, 'Bearer'],
          [{ Cookie: 'fc_session_token=stale' }, REFUSED],
          [{ Cookie: `${Cookie}x` }, REFUSED],
          [{ Cookie: `fc_session_token=Bearer ${token}` }, REFUSED],
          [{ Cookie: `${Cookie}; fc_session_token=stale` }, REFUSED],
          [{ Cookie, Authorization: 'Bearer stale' }, REFUSED],
          [{ Cookie, Authorization: 'Basic bWlyYTptaXJh' }, 'Bearer'],
          [{ Cookie, Authorization: '' }, 'Bearer'],
          [{ Authorization: token }, 'Bearer'],
          [{ Authorization: 'Bearer' }, REFUSED],
          [{ Authorization: 'Bearer two words' }, REFUSED],
          [{ Cookie: `theme=dark; fc_session_token=; ${Cookie}` }, REFUSED],
        ] as [Record<string, string>, string][]) {
          const answer = await cast.anonymous.send(401, 'GET /auth/me', { headers });
          expectEqual(answer, 'WWW-Authenticate', answer.headers.get('www-authenticate'), challenge);
          expectEqual(answer, 'the body, whatever was wrong', answer.body, body);
        }
      },
    ),

    rule(
      'auth.credentials.header-first',
      'A good Authorization header takes precedence over any cookie, good or bad.',
      async (cast) => {
        const { id, token } = await cast.sharedUser('sam');
        const other = await cast.sharedUser('ada');
        for (const cookie of [other.token, 'stale', '']) {
          const answer = await cast.anonymous.send(200, 'GET /auth/me', { token, ...byCookie(cookie) });
          expectEqual(answer, 'whose account', answer.body.id, id);
        }
      },
    ),
  ],
};
