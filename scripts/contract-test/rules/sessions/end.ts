import { claimsOf } from '../../client/index.js';
import { expectClearedCookie, expectEqual, expectThat } from '../../expect.js';
import { idsOf, withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { startSession } from '../session.js';
import { userRules } from '../user-rule.js';

/** More sessions than a small page of a list would hold. The service must allow these sessions and the current one. */
const OTHER_SESSIONS = 11;

const samRule = userRules('sam');

export const endRules: Rule[] = [
  samRule(
    'auth.logout.ends-session',
    'Logout invalidates the token of the session and clears the cookie. If the header and the cookie belong to different sessions, it ends the session of the header.',
    async (sam, users) => {
      const [session, other] = [await startSession(users, sam), await startSession(users, sam)];
      const response = await session.send(200, 'POST /auth/logout', withCookie(other.token));
      const cookie = response.headers.get('set-cookie') ?? '';
      expectClearedCookie(response);
      expectThat(/max-age=0|expires=thu, 01 jan 1970/i.test(cookie), 'an expired cookie', response);
      await session.send(401, 'GET /auth/verify');
      await users.anonymous.send(401, 'GET /auth/verify', withCookie(session.token));
      await other.send(200, 'GET /auth/verify');
      const remaining = await other.send(200, 'GET /auth/sessions');
      expectThat(!idsOf<string>(remaining.body).includes(session.id), 'a list without the session', remaining);
    },
  ),

  samRule(
    'sessions.delete.ends-session',
    'Deleting a session invalidates its token. Other sessions stay valid, and a second deletion returns 404.',
    async (sam, users) => {
      const [session, other] = [await startSession(users, sam), await startSession(users, sam)];
      const response = await sam.send(200, `DELETE /auth/sessions/${session.id}`);
      expectThat(!response.headers.has('set-cookie'), 'no Set-Cookie', response);
      await session.send(401, 'GET /auth/me');
      for (const { send } of [sam, other]) await send(200, 'GET /auth/me');
      await sam.send(404, `DELETE /auth/sessions/${session.id}`);
    },
  ),

  samRule(
    'sessions.delete.not-own',
    'DELETE /auth/sessions/{id} returns 404 if the session is missing or another user’s, with the same body.',
    async ({ send }, users) => {
      const other = await startSession(users, await users.sharedUser('ada'));
      const missing = await send(404, 'DELETE /auth/sessions/00000000-0000-4000-8000-000000000000');
      const foreign = await send(404, `DELETE /auth/sessions/${other.id}`);
      expectEqual(foreign, 'the body, as for a missing one', foreign.body, missing.body);
      await other.send(200, 'GET /auth/verify');
    },
  ),

  samRule(
    'sessions.delete.malformed-id',
    'DELETE /auth/sessions/{id} returns 404 for any id that is not one of the user’s sessions, regardless of its form.',
    async (sam, users) => {
      const { id: own, send } = await startSession(users, sam);
      const similar = [own.toUpperCase(), `${own}%00`, `${own}%20`];
      const malformed = ['1', 'abc', '%00', '..%2fme', '%F0%9F%98%80', '%27%20or%20true--', 'x'.repeat(5000)];
      for (const id of [...similar, ...malformed]) {
        const response = await send(404, `DELETE /auth/sessions/${id}`);
        expectThat(!response.headers.has('set-cookie'), 'no Set-Cookie', response);
      }
      await send(200, 'GET /auth/me');
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
      // The current session is neither the oldest nor the newest one.
      const [current] = tokens.slice(tokens.length / 2) as [string];
      const send = (request: string) => users.anonymous.send(200, request, { token: current });
      const list = await send('GET /auth/sessions');
      const ids = tokens.map((token) => claimsOf(token).jti);
      expectEqual(list, 'the sessions', idsOf<string>(list.body).sort(), ids.sort());
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
