import { expectEqual } from '../../expect.js';
import { claimsOf, idsOf } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

export const listRules: Rule[] = [
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

  rule('sessions.list.order', 'Sessions are listed most recently used first.', async (users) => {
    const response = await (await users.sharedUser('sam')).send(200, 'GET /auth/sessions');
    const times = response.body.map(({ last_used_at }: { last_used_at: string }) => last_used_at);
    expectEqual(response, 'the order', times, [...times].sort().reverse());
  }),

  rule(
    'sessions.list.device-name',
    'device_name is the User-Agent, trimmed, without control characters and truncated to 255 characters. It is “Unknown device” if the header is missing or empty.',
    async (users) => {
      const sam = await users.sharedUser('sam');
      for (const [headers, name] of [
        [{ 'User-Agent': `Contract Test ${'x'.repeat(300)}` }, `Contract Test ${'x'.repeat(241)}`],
        [{ 'User-Agent': ' \u00a0 Trimmed \t' }, 'Trimmed'],
        [{ 'User-Agent': 'No\tControl\u0085Char\u009facters' }, 'NoControlCharacters'],
        [{ 'User-Agent': '<script>"&' }, '<script>"&'],
        [{ 'User-Agent': 'Two  spaces' }, 'Two  spaces'],
        [{}, 'Unknown device'],
        [{ 'User-Agent': '' }, 'Unknown device'],
        [{ 'User-Agent': ' \u0085 ' }, 'Unknown device'],
        [{ 'User-Agent': '\u0085 Between control characters \u0085' }, 'Between control characters'],
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
];
