import type { Cast } from '../cast.js';
import { problems, rule, type Subject, same, want } from '../rule.js';
import { byCookie } from '../scenes.js';
import { claimsOf } from './passwords.js';

const TABLE = 'Accounts and sessions';

/** One login, for all rules that look at its answer alone. */
const aLogin = (cast: Cast) => cast.once('a login', async () => cast.login(await cast.person('sam')));

export const sessions: Subject = {
  name: 'Login and sessions',
  rules: [
    rule('Authentication 2', 'Login returns {id, token, expires_at} and sets the cookie', async (cast) => {
      const sam = await cast.person('sam');
      const answer = await aLogin(cast);
      same(answer, 'the fields', Object.keys(answer.body).sort(), ['expires_at', 'id', 'token']);
      same(answer, 'the id', answer.body.id, sam.id);
      await cast.nobody.ask(200, 'GET /auth/me', { token: answer.body.token });
      await cast.nobody.ask(200, 'GET /auth/me', byCookie(answer.body.token));
    }),

    rule('Rules', 'Cookie fc_session_token: HttpOnly, SameSite=Lax, Path=/', async (cast) => {
      const answer = await aLogin(cast);
      const [pair, ...attributes] = (answer.headers.get('set-cookie') ?? '').split(/; */);
      same(answer, 'the cookie', pair, `fc_session_token=${answer.body.token}`);
      const found = attributes.map((attribute) => attribute.toLowerCase());
      for (const attribute of ['httponly', 'samesite=lax', 'path=/']) {
        want(found.includes(attribute), `the attribute ${attribute}`, answer);
      }
    }),

    rule('Representation, token', 'the cookie expires with the token', async (cast) => {
      const answer = await aLogin(cast);
      const expires = Date.parse(/expires=([^;]+)/i.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '');
      const { exp, iat } = claimsOf(answer.body.token);
      same(answer, 'expires_at', Date.parse(answer.body.expires_at), exp * 1000);
      same(answer, 'Expires of the cookie', expires, exp * 1000);
      want(exp > iat, 'an expiry that is to come', answer);
    }),

    rule('Representation, token', 'signed JWT, claims sub, jti, tvr, iat, exp, iss, aud', async (cast) => {
      const answer = await aLogin(cast);
      const claims = claimsOf(answer.body.token);
      same(answer, 'the claims', Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'jti', 'sub', 'tvr']);
    }),

    rule('Representation, times', 'RFC 3339, UTC, milliseconds; expires_at too', async (cast) => {
      const answer = await aLogin(cast);
      want(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(answer.body.expires_at),
        'expires_at with milliseconds in UTC',
        answer,
      );
    }),

    rule('Authentication 3', 'Each login creates a separate session with its own token', async (cast) => {
      const sam = await cast.person('sam');
      const [one, two] = [(await cast.login(sam)).body.token, (await cast.login(sam)).body.token];
      const answer = await cast.nobody.ask(200, 'GET /auth/sessions', { token: two });
      want(one !== two && claimsOf(one).jti !== claimsOf(two).jti, 'two tokens for two sessions', answer);
      const ids = answer.body.map(({ id }: { id: string }) => id);
      for (const token of [one, two]) want(ids.includes(claimsOf(token).jti), 'both sessions in the list', answer);
    }),

    rule(
      'Authentication 7',
      'Login failure returns a generic 401 that does not say which field was wrong',
      async (cast) => {
        const { email, password } = await cast.person('sam');
        const wrong = async (json: object) => cast.nobody.ask(401, 'POST /auth/login', { json });
        const answers = [
          await wrong({ email, password: `${password}x` }),
          await wrong({ email: cast.identity().email, password }),
          await wrong({ email: 'no address', password }),
        ];
        for (const answer of answers) same(answer, 'the body', answer.body, answers[0]?.body);
      },
    ),

    rule('Input rules, login', 'The email is trimmed and lowercased', async (cast) => {
      const { email, password } = await cast.person('sam');
      await cast.login({ email: `  ${email.toUpperCase()} `, password });
    }),

    rule('Input rules, login', 'only email and password', async (cast) => {
      const { email, password } = await cast.person('sam');
      const json = { email, password, remember: true };
      problems(await cast.nobody.ask(400, 'POST /auth/login', { json }), 'body.remember');
    }),

    rule('Rules', 'Login checks the shape: two strings, password at most 128 characters', async (cast) => {
      const json = { email: 7, password: 'x'.repeat(129) };
      problems(await cast.nobody.ask(400, 'POST /auth/login', { json }), 'body.email', 'body.password');
      problems(await cast.nobody.ask(400, 'POST /auth/login', { json: {} }), 'body.email', 'body.password');
    }),

    rule(`${TABLE}, GET /auth/sessions`, '200 list of sessions, current true for the one that asks', async (cast) => {
      const sam = await cast.person('sam');
      const { token } = (await cast.login(sam)).body;
      const answer = await cast.nobody.ask(200, 'GET /auth/sessions', { token });
      const current = answer.body.filter((session: { current: boolean }) => session.current);
      same(
        answer,
        'the current session',
        current.map(({ id }: { id: string }) => id),
        [claimsOf(token).jti],
      );
    }),

    rule('Rules', 'Sessions are listed last used first', async (cast) => {
      const answer = await (await cast.person('sam')).ask(200, 'GET /auth/sessions');
      const times = answer.body.map(({ last_used_at }: { last_used_at: string }) => last_used_at);
      same(answer, 'the order', times, [...times].sort().reverse());
    }),

    rule(
      'Representation, device_name',
      'the User-Agent, trimmed, at most 255 characters; Unknown device without',
      async (cast) => {
        const sam = await cast.person('sam');
        for (const [headers, name] of [
          [{ 'User-Agent': `Contract Kit ${'x'.repeat(300)}` }, `Contract Kit ${'x'.repeat(242)}`],
          [{}, 'Unknown device'],
        ] as [Record<string, string>, string][]) {
          const { token } = (await cast.login(sam, headers)).body;
          const answer = await cast.nobody.ask(200, 'GET /auth/sessions', { token });
          same(
            answer,
            'device_name',
            answer.body.find((session: { current: boolean }) => session.current)?.device_name,
            name,
          );
        }
      },
    ),

    rule('Authentication 5', 'Logout invalidates that session’s token and clears the cookie', async (cast) => {
      const sam = await cast.person('sam');
      const { token } = (await cast.login(sam)).body;
      const answer = await cast.nobody.ask(200, 'POST /auth/logout', { token });
      const cookie = answer.headers.get('set-cookie') ?? '';
      want(
        /^fc_session_token=;/.test(cookie) && /max-age=0|expires=thu, 01 jan 1970/i.test(cookie),
        'a cleared cookie',
        answer,
      );
      await cast.nobody.ask(401, 'GET /auth/verify', { token });
      await cast.nobody.ask(401, 'GET /auth/verify', byCookie(token));
      await sam.ask(200, 'GET /auth/verify');
      const left = await sam.ask(200, 'GET /auth/sessions');
      want(
        !left.body.some(({ id }: { id: string }) => id === claimsOf(token).jti),
        'the session gone from the list',
        left,
      );
    }),

    rule('Authentication 5', 'deletion of a session invalidates that session’s token', async (cast) => {
      const sam = await cast.person('sam');
      const { token } = (await cast.login(sam)).body;
      const answer = await sam.ask(200, `DELETE /auth/sessions/${claimsOf(token).jti}`);
      want(!answer.headers.has('set-cookie'), 'the own cookie left alone', answer);
      await cast.nobody.ask(401, 'GET /auth/me', { token });
      await sam.ask(200, 'GET /auth/me');
    }),

    rule('Rules', 'The cookie is cleared whenever the current session ends: by its deletion', async (cast) => {
      const { token } = (await cast.login(await cast.person('sam'))).body;
      const answer = await cast.nobody.ask(200, `DELETE /auth/sessions/${claimsOf(token).jti}`, { token });
      want(/^fc_session_token=;/.test(answer.headers.get('set-cookie') ?? ''), 'a cleared cookie', answer);
      await cast.nobody.ask(401, 'GET /auth/me', { token });
    }),

    rule(`${TABLE}, DELETE /auth/sessions/:id`, '404 if the session is missing or not the caller’s', async (cast) => {
      const sam = await cast.person('sam');
      const other = await cast.person('ada');
      const missing = await sam.ask(404, 'DELETE /auth/sessions/00000000-0000-4000-8000-000000000000');
      const foreign = await sam.ask(404, `DELETE /auth/sessions/${claimsOf(other.token).jti}`);
      same(foreign, 'the body, as for a missing one', foreign.body, missing.body);
      await other.ask(200, 'GET /auth/verify');
    }),

    rule(
      'Representation, session id',
      'A path value of any shape that is not one of the caller’s sessions is 404',
      async (cast) => {
        const sam = await cast.person('sam');
        for (const id of ['1', 'abc', '%00', '..%2fme', 'x'.repeat(300)])
          await sam.ask(404, `DELETE /auth/sessions/${id}`);
      },
    ),

    rule(`${TABLE}, DELETE /auth/sessions`, '200; deletes every session except the current', async (cast) => {
      const sam = await cast.newcomer();
      const others = [(await cast.login(sam)).body.token, (await cast.login(sam)).body.token];
      await sam.ask(200, 'DELETE /auth/sessions');
      for (const token of others) await cast.nobody.ask(401, 'GET /auth/me', { token });
      const answer = await sam.ask(200, 'GET /auth/sessions');
      same(
        answer,
        'the sessions left',
        answer.body.map(({ id }: { id: string }) => id),
        [claimsOf(sam.token).jti],
      );
    }),

    rule('Authentication 2', 'The token is a signed token: one that was changed is none', async (cast) => {
      const { token } = await cast.person('sam');
      const [head, , signature] = token.split('.');
      const forged = (claims: object) =>
        Buffer.from(JSON.stringify({ ...claimsOf(token), ...claims })).toString('base64url');
      const other = String((await cast.person('ada')).id);
      const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
      for (const changed of [
        `${head}.${forged({ sub: other })}.${signature}`,
        `${head}.${forged({ tvr: 99 })}.${signature}`,
        `${none}.${forged({})}.`,
        `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`,
        'abc',
      ]) {
        await cast.nobody.ask(401, 'GET /auth/me', { token: changed });
      }
    }),

    rule(
      'Status codes',
      'missing or malformed credentials: 401; a bad header is never rescued by a good cookie',
      async (cast) => {
        const { token } = await cast.person('sam');
        const Cookie = `fc_session_token=${token}`;
        for (const headers of [
          {},
          { Cookie: 'fc_session_token=stale' },
          { Cookie, Authorization: 'Bearer stale' },
          { Cookie, Authorization: 'Basic bWlyYTptaXJh' },
          { Cookie, Authorization: '' },
          { Authorization: token },
        ] as Record<string, string>[]) {
          const answer = await cast.nobody.ask(401, 'GET /auth/me', { headers });
          same(answer, 'WWW-Authenticate', answer.headers.get('www-authenticate'), 'Bearer');
        }
      },
    ),

    rule('Status codes', 'A good header wins over a good cookie', async (cast) => {
      const { id, token } = await cast.person('sam');
      const other = await cast.person('ada');
      const answer = await cast.nobody.ask(200, 'GET /auth/me', { token, ...byCookie(other.token) });
      same(answer, 'whose account', answer.body.id, id);
    }),
  ],
};
