import type { CheckedResponse } from '../../exchange.js';
import { expectCurrentTime, expectEqual, expectThat } from '../../expect.js';
import { claimsOf } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

function expectFutureTime(response: CheckedResponse, time: string): void {
  expectThat(Date.parse(time) > Date.now() + 1000, `a time in the future, not ${time}`, response);
}

export const sessionListRules: Rule[] = [
  rule(
    'sessions.list.entries',
    'GET /auth/sessions returns one entry for each login, with the id, the device name, the times, and whether the session is current.',
    async (users) => {
      const user = await users.register();
      const devices = [`Contract Test ${'x'.repeat(100)}`, 'Client/2.0 (a test)'];
      const logins = [];
      for (const device of devices) logins.push(await users.login(user, { 'User-Agent': device }));
      const current = logins.at(-1) as CheckedResponse;
      const response = await users.anonymous.send(200, 'GET /auth/sessions', { token: current.body.token });
      expectEqual(response, 'the number of sessions', response.body.length, 3);
      for (const { body } of logins) {
        expectFutureTime(current, body.expires_at);
        const { jti } = claimsOf(body.token);
        const entry = response.body.find(({ id }: { id: string }) => id === jti);
        expectThat(entry, `a session ${jti}`, response);
        expectEqual(response, 'current', entry.current, body.token === current.body.token);
      }
      const names = response.body.map(({ device_name }: { device_name: string }) => device_name);
      expectEqual(response, 'the device names', names.sort(), [...devices, 'Unknown device'].sort());
      for (const { created_at, last_used_at } of response.body) {
        expectCurrentTime(response, 'created_at', created_at);
        expectCurrentTime(response, 'last_used_at', last_used_at);
        expectThat(last_used_at >= created_at, 'last_used_at not before created_at', response);
      }
    },
  ),
];
