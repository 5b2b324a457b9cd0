import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectThat } from '../expect.js';
import { WRONG_PASSWORD } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';

const median = (values: number[]) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

/** Rules that are checked only with `--slow`. */
export const slow: Subject = {
  name: 'Slow rules',
  rules: [
    rule(
      'slow.sessions.last-used-at',
      'last_used_at of a session is updated when the session is used, with a delay of at most a minute. Sessions are listed by last use, latest first.',
      async (users) => {
        const user = await users.register();
        const other: string = (await users.login(user)).body.token;
        const sessions = async (): Promise<{
          response: CheckedResponse;
          own: { id: string; last_used_at: string };
        }> => {
          const response = await user.send(200, 'GET /auth/sessions');
          return { response, own: response.body.find(({ current }: { current: boolean }) => current) };
        };
        const before = (await sessions()).own;
        await sleep(62_000);
        await user.send(200, 'GET /auth/me');
        await sleep(500);
        const { response, own } = await sessions();
        expectThat(Date.parse(own.last_used_at) > Date.parse(before.last_used_at), 'a later last_used_at', response);
        expectThat(Date.now() - Date.parse(own.last_used_at) < 5 * 60_000, 'a current last_used_at', response);
        expectEqual(response, 'the first session of the list', response.body[0].id, own.id);
        await users.anonymous.send(200, 'GET /auth/me', { token: other });
      },
      { slow: true },
    ),

    rule(
      'slow.login.timing',
      'A failed login takes the same time for an unknown email, a malformed email and a wrong password.',
      async (users) => {
        const { email } = await users.register();
        const password = WRONG_PASSWORD;
        const emails = { known: email, unknown: users.newUser().email, malformed: 'plain' };
        const times: Record<keyof typeof emails, number[]> = { known: [], unknown: [], malformed: [] };
        let response: CheckedResponse | undefined;
        for (let count = 0; count < 12; count++) {
          for (const [kind, address] of Object.entries(emails) as [keyof typeof emails, string][]) {
            const startedAt = performance.now();
            response = await users.anonymous.send(401, 'POST /auth/login', { json: { email: address, password } });
            times[kind].push(performance.now() - startedAt);
          }
        }
        const known = median(times.known);
        for (const kind of ['unknown', 'malformed'] as const) {
          const ratio = median(times[kind]) / known;
          expectThat(
            ratio > 0.6 && ratio < 1.6,
            `${kind} emails to take as long as known ones, not ${ratio.toFixed(2)} times as long`,
            response,
          );
        }
      },
      { slow: true },
    ),
  ],
};
