import type { components } from '../../../../generated/types.js';
import { expectCurrentTime, expectEqual, expectThat } from '../../expect.js';
import { idsOf } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { type Session, startSession } from '../session.js';
import { userRules } from '../user-rule.js';

type SessionEntry = components['schemas']['Session'];

const samRule = userRules('sam');

export const listRules: Rule[] = [
  samRule(
    'sessions.list.current',
    'GET /auth/sessions returns 200 and the sessions of the user; current is true for the session of the request.',
    async (sam, users) => {
      const session = await startSession(users, sam);
      const response = await session.send(200, 'GET /auth/sessions');
      const current = response.body.filter((entry: SessionEntry) => entry.current);
      expectEqual(response, 'the current session', idsOf(current), [session.id]);
    },
  ),

  samRule('sessions.list.order', 'Sessions are listed most recently used first.', async ({ send }) => {
    const response = await send(200, 'GET /auth/sessions');
    const times = response.body.map((entry: SessionEntry) => entry.last_used_at);
    expectEqual(response, 'the order', times, [...times].sort().reverse());
  }),

  samRule(
    'sessions.list.device-name',
    'device_name is the User-Agent, decoded as UTF-8 or otherwise Latin-1, trimmed, without control characters and truncated to 255 characters (code points). It is “Unknown device” if the header is missing or nothing of it remains.',
    async (sam, users) => {
      for (const [userAgent, name] of [
        [`Contract Test ${'x'.repeat(300)}`, `Contract Test ${'x'.repeat(241)}`],
        [Buffer.from('🐟'.repeat(255)).toString('latin1'), '🐟'.repeat(255)],
        [Buffer.from(`x${'🐟'.repeat(255)}`).toString('latin1'), `x${'🐟'.repeat(254)}`],
        [' \u00a0 Trimmed \t', 'Trimmed'],
        ['No\tControl\u0085Char\u009facters', 'NoControlCharacters'],
        ['<script>"&', '<script>"&'],
        ['Two  spaces', 'Two  spaces'],
        [Buffer.from('Ländle 🐟').toString('latin1'), 'Ländle 🐟'],
        ['L\u00e4ndle', 'L\u00e4ndle'],
        [undefined, 'Unknown device'],
        ['', 'Unknown device'],
        [' \u0085 ', 'Unknown device'],
        ['\u0085 Between control characters \u0085', 'Between control characters'],
      ] as const) {
        const { send } = await startSession(users, sam, userAgent === undefined ? {} : { 'User-Agent': userAgent });
        const response = await send(200, 'GET /auth/sessions');
        const current = response.body.find((entry: SessionEntry) => entry.current);
        expectEqual(response, 'device_name', current?.device_name, name);
      }
    },
  ),

  rule(
    'sessions.list.entries',
    'GET /auth/sessions returns one entry for each login, with the id, the device name, the times, and whether the session is current.',
    async (users) => {
      const user = await users.register();
      const devices = [`Contract Test ${'x'.repeat(100)}`, 'Client/2.0 (a test)'];
      const sessions: Session[] = [];
      for (const device of devices) sessions.push(await startSession(users, user, { 'User-Agent': device }));
      const current = sessions.at(-1) as Session;
      const response = await current.send(200, 'GET /auth/sessions');
      // `register` has also logged in, without a User-Agent.
      expectEqual(response, 'the number of sessions', response.body.length, devices.length + 1);
      for (const { id, login } of sessions) {
        const { expires_at } = login.body;
        expectThat(Date.parse(expires_at) > Date.now() + 1000, `expires_at in the future, not ${expires_at}`, login);
        const entry = response.body.find((listed: SessionEntry) => listed.id === id);
        expectThat(entry, `a session ${id}`, response);
        expectEqual(response, 'current', entry.current, id === current.id);
      }
      const names = response.body.map((entry: SessionEntry) => entry.device_name);
      expectEqual(response, 'the device names', names.sort(), [...devices, 'Unknown device'].sort());
      for (const { created_at, last_used_at } of response.body) {
        expectCurrentTime(response, 'created_at', created_at);
        expectCurrentTime(response, 'last_used_at', last_used_at);
        expectThat(last_used_at >= created_at, 'last_used_at not before created_at', response);
      }
    },
  ),
];
