import { expectClearedCookie, expectEqual, expectThat } from '../../expect.js';
import { claimsOf, idsOf, withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

/** More sessions than a small page of a list would hold. The service must allow one more. */
const OTHER_SESSIONS = 11;

export const endRules: Rule[] = [
  rule(
    'auth.logout.ends-session',
    'Logout invalidates the token of the session and clears the cookie. With a header and a cookie of different sessions, it ends that of the header.',
    async (users) => {
      const sam = await users.sharedUser('sam');
      const { token } = (await users.login(sam)).body;
      const response = await users.anonymous.send(200, 'POST /auth/logout', { token, ...withCookie(sam.token) });
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
    'GET /auth/sessions lists all sessions of the user. DELETE /auth/sessions returns 200 and deletes all of them except the current one.',
    async (users) => {
      const user = await users.register();
      const stranger = await users.sharedUser('sam');
      const tokens = [user.token];
      while (tokens.length <= OTHER_SESSIONS) tokens.push((await users.login(user)).body.token);
      // Neither the oldest nor the newest session.
      const [current] = tokens.slice(OTHER_SESSIONS / 2) as [string];
      const send = (request: string) => users.anonymous.send(200, request, { token: current });
      const list = await send('GET /auth/sessions');
      expectEqual(
        list,
        'the sessions',
        idsOf<string>(list.body).sort(),
        tokens.map((token) => claimsOf(token).jti).sort(),
      );
      await send('DELETE /auth/sessions');
      for (const token of tokens.filter((other) => other !== current))
        await users.anonymous.send(401, 'GET /auth/me', { token });
      const response = await send('GET /auth/sessions');
      expectEqual(response, 'the remaining sessions', idsOf(response.body), [claimsOf(current).jti]);
      await stranger.send(200, 'GET /auth/me');
      await send('DELETE /auth/sessions');
    },
  ),
];
